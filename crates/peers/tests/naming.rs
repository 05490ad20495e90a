//! Names, options and what an error says.

use broadphase_peers::{PeerError, PeerSpec, list};

#[test]
fn the_list_has_every_name_in_the_order_of_the_contract() {
    let names: Vec<_> = list().iter().map(|peer| peer.name).collect();
    let contract = "parry parry-refit obvhs obvhs-refit bvh rstar box-intersect-ze broccoli kiddo bvh-arena \
                    bullet-dbvt-f bullet-dbvt-d bullet-axis-sweep cgal rapier box3d physx-abp jolt";
    assert_eq!(names.join(" "), contract);
}

#[test]
fn an_unknown_name_offers_the_nearest_one() {
    for (given, nearest) in
        [("pary", "parry"), ("bulet", "bullet-dbvt-f"), ("CGAL", "cgal"), ("jold", "jolt"), ("physx", "physx-abp")]
    {
        let Err(PeerError::UnknownPeer { name, nearest: offered }) = given.parse::<PeerSpec>() else { panic!("{given}") };
        assert_eq!((name.as_str(), offered), (given, nearest));
    }
}

#[test]
fn a_peer_outside_the_build_names_what_to_add() {
    for peer in list().iter().filter(|peer| !peer.built) {
        let error = peer.name.parse::<PeerSpec>().unwrap_err();
        assert_eq!(error.code(), "not-built");
        assert!(error.to_string().contains(peer.name), "{error}");
    }
}

#[test]
fn versions_are_those_of_the_lock_file() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
    for peer in list().iter().filter(|peer| peer.feature != "cpp-peers" && peer.feature != "jolt") {
        let package = match peer.name {
            "parry" | "parry-refit" => "parry3d",
            "obvhs-refit" => "obvhs",
            "box-intersect-ze" => "box_intersect_ze",
            "rapier" => "rapier3d",
            "box3d" => "box3d-sys",
            "physx-abp" => "physx-sys",
            name => name,
        };
        let entry = format!("name = \"{package}\"\nversion = \"{}\"", peer.version);
        assert!(lock.contains(&entry), "the lock file does not have {package} {}", peer.version);
    }
}

#[test]
fn a_peer_of_the_build_prints_as_written_and_refuses_unknown_options() {
    for peer in list().iter().filter(|peer| peer.built) {
        assert_eq!(peer.name.parse::<PeerSpec>().unwrap().to_string(), peer.name);
        assert_eq!(format!("{}:color=red", peer.name).parse::<PeerSpec>().unwrap_err().code(), "unknown-option");
        for (option, default, _) in peer.options {
            let text = format!("{}:{option}={default}", peer.name);
            assert_eq!(text.parse::<PeerSpec>().unwrap().to_string(), text);
            assert_eq!(format!("{}:{option}", peer.name).parse::<PeerSpec>().unwrap_err().code(), "bad-value");
        }
    }
}

#[test]
fn what_a_peer_does_not_support_is_unsuited() {
    for peer in list().iter().filter(|peer| peer.built) {
        let spec: PeerSpec = peer.name.parse().unwrap();
        let built = [
            (2, "float32", spec.build::<2, f32>().err()),
            (2, "float64", spec.build::<2, f64>().err()),
            (3, "float32", spec.build::<3, f32>().err()),
            (3, "float64", spec.build::<3, f64>().err()),
        ];
        for (dim, scalar, error) in built {
            let claimed = peer.dims.contains(&dim) && peer.scalars.contains(&scalar);
            let expected = (!claimed).then_some(PeerError::Unsuited { peer: peer.name, dim, scalar });
            assert_eq!(error, expected, "{}", peer.name);
        }
    }
}
