//! Compiles the C++ shims of the features `cpp-peers` and `jolt`, and says which of them there are.
//!
//! A library whose headers are missing is no error: the build warns, the crate is built without the peer, and the peer itself
//! says what to install. A shim that does not compile although the headers are there is an error.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(bullet, cgal)");
    #[cfg(feature = "cpp-peers")]
    cpp::build();
    #[cfg(feature = "jolt")]
    jolt::build();
}

#[cfg(feature = "cpp-peers")]
mod cpp {
    use std::path::{Path, PathBuf};

    /// A library of the system: how its headers are found, and what a build with it links.
    struct Library {
        /// The cfg that says it is there, and the name of its shim.
        name: &'static str,
        package: &'static str,
        /// Below a directory of headers.
        include: &'static str,
        /// A header that gives the version, and the macro that does.
        version: (&'static str, &'static str),
        links: &'static [&'static str],
    }

    const BULLET: Library = Library {
        name: "bullet",
        package: "libbullet-dev",
        include: "bullet",
        version: ("LinearMath/btScalar.h", "BT_BULLET_VERSION"),
        links: &["BulletCollision", "LinearMath"],
    };

    const CGAL: Library =
        Library { name: "cgal", package: "libcgal-dev", include: "", version: ("CGAL/version.h", "CGAL_VERSION"), links: &[] };

    pub fn build() {
        println!("cargo::rerun-if-changed=cpp");
        println!("cargo::rerun-if-env-changed=PEERS_INCLUDE");
        for library in [BULLET, CGAL] {
            match library.headers() {
                Some(directory) => library.compile(&directory),
                None => println!(
                    "cargo::warning=building without {}: the headers of {} are missing; run scripts/install-peers",
                    library.name, library.package
                ),
            }
        }
    }

    impl Library {
        /// Its directory of headers: below `PEERS_INCLUDE` if that is set, else where a package or a local build puts it.
        fn headers(&self) -> Option<PathBuf> {
            let given = std::env::var("PEERS_INCLUDE").ok();
            let roots = given.as_deref().map_or(vec!["/usr/include", "/usr/local/include"], |root| vec![root]);
            let mut directories = roots.iter().map(|root| Path::new(root).join(self.include));
            let found = directories.find(|path| path.join(self.version.0).exists());
            // A package installed or removed later is noticed at the next build.
            match &found {
                Some(path) => println!("cargo::rerun-if-changed={}", path.join(self.version.0).display()),
                None => roots.iter().for_each(|root| println!("cargo::rerun-if-changed={root}")),
            }
            found
        }

        fn compile(&self, headers: &Path) {
            let mut build = cc::Build::new();
            // As Debian builds its packages: optimized, no instruction beyond the baseline, no assertions.
            build.cpp(true).std("c++17").opt_level(3).define("NDEBUG", None).define("CGAL_NDEBUG", None);
            build.file(format!("cpp/{}.cpp", self.name)).include("cpp").warnings(true);
            if !self.include.is_empty() {
                // As a system directory: warnings about their headers are not ours. (The compiler knows /usr/include itself.)
                build.flag("-isystem").flag(headers.to_str().expect("the path of the headers is UTF-8"));
            } else {
                build.include(headers);
            }
            build.compile(&format!("peers_{}", self.name));
            for link in self.links {
                println!("cargo::rustc-link-lib={link}");
            }
            println!("cargo::rustc-cfg={}", self.name);
            println!("cargo::rustc-env=PEERS_{}={}", self.name.to_uppercase(), self.version(headers));
        }

        /// The version as the library's users write it; Bullet's macro says 324 for 3.24.
        fn version(&self, headers: &Path) -> String {
            let (header, name) = self.version;
            let text = std::fs::read_to_string(headers.join(header)).unwrap_or_default();
            let value = text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '));
            match value.unwrap_or("").trim().split_at_checked(1) {
                Some((major, minor)) if minor.parse::<u32>().is_ok() => format!("{major}.{minor}"),
                Some((first, rest)) => format!("{first}{rest}"),
                None => String::new(),
            }
        }
    }
}

#[cfg(feature = "jolt")]
mod jolt {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// What the cmake files of Jolt define in the one configuration that joltc-sys builds. The shim asks the library whether these
    /// are its own, and gives up if not.
    const DEFINED: [&str; 3] = ["NDEBUG", "JPH_PROFILE_ENABLED", "JPH_DEBUG_RENDERER"];
    const DEFINED_ON_X86: [&str; 8] = [
        "JPH_USE_SSE4_1",
        "JPH_USE_SSE4_2",
        "JPH_USE_AVX",
        "JPH_USE_AVX2",
        "JPH_USE_LZCNT",
        "JPH_USE_TZCNT",
        "JPH_USE_F16C",
        "JPH_USE_FMADD",
    ];
    const FLAGS_ON_X86: [&str; 7] = ["-mavx2", "-mbmi", "-mpopcnt", "-mlzcnt", "-mf16c", "-mfma", "-mfpmath=sse"];

    pub fn build() {
        println!("cargo::rerun-if-changed=cpp");
        let headers = package("joltc-sys").join("JoltC/JoltPhysics");
        assert!(headers.join("Jolt/Jolt.h").exists(), "joltc-sys has no headers of Jolt in {}", headers.display());
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").opt_level(3).flag_if_supported("-ffp-contract=off");
        DEFINED.iter().for_each(|name| _ = build.define(name, None));
        build.define("JPH_OBJECT_LAYER_BITS", "16");
        if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
            DEFINED_ON_X86.iter().for_each(|name| _ = build.define(name, None));
            FLAGS_ON_X86.iter().for_each(|flag| _ = build.flag_if_supported(*flag));
        }
        build.flag("-isystem").flag(headers.to_str().expect("the path of the headers is UTF-8"));
        build.file("cpp/jolt.cpp").include("cpp").warnings(true).compile("peers_jolt");
    }

    /// The folder of a package that this one depends on. Cargo tells a build script of its dependencies only if they have a `links` key,
    /// which joltc-sys has not; so cargo is asked.
    fn package(name: &str) -> PathBuf {
        let cargo = std::env::var_os("CARGO").expect("cargo says where it is");
        let target = std::env::var("TARGET").expect("cargo says what it builds for");
        let ask = |network: &[&str]| {
            let mut command = Command::new(&cargo);
            command.args(["metadata", "--format-version=1", "--features=jolt", "--filter-platform", &target]).args(network);
            command.output().expect("cargo runs")
        };
        // Packages of other members of the workspace may not have been fetched yet; then cargo fetches them.
        let offline = ask(&["--offline"]);
        let output = if offline.status.success() { offline } else { ask(&[]) };
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let packages = metadata["packages"].as_array().expect("cargo lists packages");
        let found = packages.iter().find(|package| package["name"] == name).unwrap_or_else(|| panic!("no package {name}"));
        let manifest = found["manifest_path"].as_str().expect("a package has a manifest");
        Path::new(manifest).parent().expect("a manifest is in a folder").to_path_buf()
    }
}
