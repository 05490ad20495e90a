//! Compiles the C++ shims of the feature `cpp-peers` and says which of them there are.
//!
//! A library whose headers are missing is no error: the build warns, the crate is built without the peer, and the peer itself
//! says what to install. A shim that does not compile although the headers are there is an error.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(bullet, cgal)");
    #[cfg(feature = "cpp-peers")]
    cpp::build();
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
            // As Debian builds its packages: optimised, no instruction beyond the baseline, no assertions.
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
