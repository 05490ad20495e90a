//! `list`, `--help` and `--version`.

mod tool;

use serde_json::Value;
use tool::Folder;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_list_for_scripts_has_the_keys_of_the_contract() {
    let folder = Folder::new();
    let list = folder.json("list --json");
    assert_eq!(keys(&list), ["algorithms", "scenes", "experiments", "peers"]);
    for algorithm in list["algorithms"].as_array().unwrap() {
        assert_eq!(keys(algorithm), ["name", "kind", "paper", "dims", "shapes", "bounded", "options"]);
        assert!(["paper", "ours", "baseline"].contains(&algorithm["kind"].as_str().unwrap()));
        let shapes = algorithm["shapes"].as_array().unwrap();
        assert!(shapes.iter().all(|shape| shape == "box" || shape == "ball"));
    }
    let scenes = list["scenes"].as_array().unwrap();
    assert!(scenes.iter().all(|scene| keys(scene) == ["name", "paper", "dim", "options"] && scene["dim"].is_u64()));
    assert!(list["peers"].as_array().unwrap().iter().all(|peer| keys(peer) == ["name", "built", "feature"]));
    let experiments = list["experiments"].as_array().unwrap();
    assert!(experiments.iter().all(|experiment| keys(experiment) == ["name", "paper", "title"]));
    assert!(experiments.len() > 30 && experiments.iter().any(|experiment| experiment["name"] == "001-fig1"));
    let options =
        list["algorithms"].as_array().unwrap().iter().chain(scenes).flat_map(|entry| entry["options"].as_array().unwrap());
    assert!(options.clone().count() > 3);
    assert!(options.clone().all(|option| keys(option) == ["name", "default", "help"]));
}

#[test]
fn the_list_for_people_names_the_same_things() {
    let folder = Folder::new();
    let (text, list) = (folder.ok("list"), folder.json("list --json"));
    for group in ["algorithms", "scenes", "experiments", "peers"] {
        for entry in list[group].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
        }
    }
}

#[test]
fn help_is_an_answer_not_an_error() {
    let folder = Folder::new();
    for line in ["--help", "-h", "help"] {
        assert!(folder.ok(line).contains("broadphase bench SCENE|FILE"));
    }
    for command in ["list", "pairs", "record", "bench", "reproduce"] {
        assert!(folder.ok(&format!("{command} --help")).starts_with(&format!("Usage: broadphase {command}")));
    }
    assert!(folder.ok("--version").starts_with("broadphase "));
    assert!(folder.ok("help bench").starts_with("Usage: broadphase bench"));
    folder.fails("help bnech", 2, &["did you mean 'bench'?"]);
}

#[test]
fn help_fits_eighty_columns_and_has_no_escape_sequences_in_a_pipe() {
    let folder = Folder::new();
    for line in ["--help", "-h", "list --help", "pairs --help", "pairs -h", "record --help", "bench --help", "reproduce --help"] {
        let text = folder.ok(line);
        assert!(!text.contains('\u{1b}'), "{line}");
        let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= 80, "{line}: {longest}");
    }
}

#[test]
fn completions_name_commands_options_scenes_and_algorithms() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.ok(&format!("completions {shell}"));
        for word in ["bench", "reproduce", "row-limit", "kd-tree"] {
            assert!(script.contains(word), "no '{word}' for {shell}");
        }
        // Scripts for fish complete no arguments without a dash.
        assert!(shell == "fish" || (script.contains("brownian-cubes") && script.contains("001-fig1")), "{shell}");
    }
    folder.fails("completions", 2, &["SHELL", "bash"]);
    folder.fails("completions tcsh", 2, &["tcsh", "zsh"]);
}
