//! The machine a measurement comes from.

use broadphase::Isa;
use serde_json::{Value, json};

/// What identifies the machine in a record.
pub fn describe() -> Value {
    json!({
        "cpu": cpu_model(),
        "cores": cores(),
        "isa": Isa::available().map(Isa::name).collect::<Vec<_>>(),
        "os": os(),
        "rustc": option_env!("BROADPHASE_RUSTC"),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// One line for the head of a table.
pub fn summary() -> String {
    let best = broadphase::Kernels::best().isa();
    let model = cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_string());
    format!("{model}, {} cores, {best}", cores().map_or_else(|| "?".to_string(), |cores| cores.to_string()))
}

fn cores() -> Option<usize> {
    std::thread::available_parallelism().ok().map(usize::from)
}

/// The CPU model's name as Linux reports it; unknown elsewhere.
fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    field(&text, "model name", ':')
}

/// The system's own name and version where it has one in the usual place, else its kind.
fn os() -> String {
    let release = std::fs::read_to_string("/etc/os-release").ok();
    let name = release.and_then(|text| field(&text, "PRETTY_NAME", '='));
    let kind = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    name.map_or(kind.clone(), |name| format!("{kind}, {}", name.trim_matches('"')))
}

/// The value of the first line whose key is `key`.
fn field(text: &str, key: &str, separator: char) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(separator));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_key() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nmodel name\t: Other\n";
        assert_eq!(field(text, "model name", ':').as_deref(), Some("Some CPU @ 3 GHz"));
        assert_eq!(field(text, "flags", ':'), None);
    }
}
