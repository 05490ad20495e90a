//! Pages from made-up outcomes: what is shown, what is left out, and what names cannot do.

use std::rc::Rc;

use broadphase_scenes::Scalar;

use super::*;
use crate::fakes::outcome;
use crate::source::Setting;

/// Rows of one setting: name, peer, ms of each block.
fn rows(scene: &str, n: usize, rows: &[(&str, bool, u64)]) -> Vec<Outcome> {
    let setting = Rc::new(Setting { scene: scene.to_string(), n, dim: 3, scalar: Scalar::F32, frames: 12, skip: 0 });
    let row = |&(name, peer, ms): &(&str, bool, u64)| {
        let mut row = outcome(name, "fake", peer, &[ms; 6], &[]);
        row.setting = Rc::clone(&setting);
        row.facts.bytes = Some(n * 40);
        row
    };
    rows.iter().map(row).collect()
}

fn page(outcomes: &[Outcome]) -> String {
    Report { outcomes, json: "{}\n", command: "broadphase bench" }.render()
}

const PLAIN: [(&str, bool, u64); 3] = [("auto", false, 2), ("kd-tree", false, 5), ("parry", true, 8)];

#[test]
fn a_full_run_has_every_chart_and_every_chart_its_table() {
    let mut outcomes = Vec::new();
    for scene in ["pile", "settled", "sizes"] {
        for n in [1000, 16000] {
            outcomes.extend(rows(scene, n, &PLAIN));
        }
    }
    let text = page(&outcomes);
    // One chart of ratios, two over scenes, three curves, and four charts for each of six settings.
    assert_eq!(text.matches("<svg").count(), 1 + 2 + 3 + 6 * 4);
    assert_eq!(text.matches("<figure>").count(), text.matches("<svg").count());
    assert_eq!(text.matches("<table>").count(), text.matches("<svg").count() + 6);
    for word in ["times as fast as the best peer", "Time per frame over scenes, 16,000 objects", "sizes: cost of an object"] {
        assert!(text.contains(word), "{word}");
    }
    assert!(text.contains("<td>auto</td><td>2</td><td>parry</td><td>8</td><td>4.00</td><td>[4.00, 4.00]</td>"));
}

#[test]
fn what_has_nothing_to_show_is_left_out() {
    let text = page(&rows("pile", 1000, &PLAIN[..2]));
    assert_eq!(text.matches("<svg").count(), 3, "times, frames, memory");
    let titles: Vec<&str> = text.split("<h2>").skip(1).filter_map(|rest| rest.split("</h2>").next()).collect();
    assert_eq!(titles, ["pile, n = 1,000", "Machine and command"], "no section without content");
    let mut row = rows("pile", 0, &PLAIN[..1]);
    row[0].records.truncate(1);
    row[0].facts.bytes = None;
    let text = page(&row);
    assert_eq!(text.matches("<svg").count(), 1, "times");
    assert!(page(&[]).contains("</html>"), "no rows at all");
}

#[test]
fn the_first_line_says_what_came_out() {
    let lead = |outcomes: &[Outcome]| {
        let text = page(outcomes);
        text.split("<strong>").nth(1).unwrap().split("</strong>").next().unwrap().to_string()
    };
    assert_eq!(lead(&rows("pile", 1000, &PLAIN)), "auto is 4.00 times as fast as parry, the best peer here.");
    assert_eq!(
        lead(&rows("pile", 1000, &PLAIN[..2])),
        "auto takes 2.00 ms of CPU time a frame for 1,000 objects, 2.50 times as fast as kd-tree, the next."
    );
    let mut two = rows("pile", 1000, &PLAIN);
    two.extend(rows("sizes", 1000, &[("auto", false, 9), ("parry", true, 3)]));
    assert_eq!(
        lead(&two),
        "auto is 0.33 to 4.00 times as fast as the best peer, 1.15 in the geometric mean of 2 settings; it is behind in 1 of them."
    );
    two[2].wrong.missing = 1;
    assert!(lead(&two).ends_with("One row is WRONG."));
    let mut ours = rows("pile", 1000, &PLAIN[..2]);
    ours.extend(rows("sizes", 1000, &[("auto", false, 9), ("kd-tree", false, 3)]));
    assert_eq!(lead(&ours), "auto is the fastest of 2 rows in 1 of 2 settings.");
    assert_eq!(lead(&[]), "No row is right.");
}

#[test]
fn a_page_has_one_kind_of_time() {
    let text = page(&rows("pile", 1000, &PLAIN));
    assert!(text.contains("CPU time ms") && !text.contains("wall"));
    let mut threads = rows("pile", 1000, &PLAIN);
    threads[0].threads = 2;
    threads[0].records.iter_mut().for_each(|record| record.timing.cpu = None);
    let text = page(&threads);
    assert!(text.contains("wall time ms") && !text.contains("CPU time ms"));
}

#[test]
fn a_wrong_row_is_in_the_table_and_in_no_chart() {
    let mut outcomes = rows("pile", 1000, &PLAIN);
    outcomes.extend(rows("pile", 1000, &[("liar", true, 1)]));
    let setting = Rc::clone(&outcomes[0].setting);
    outcomes[3].setting = setting;
    outcomes[3].wrong.missing = 7;
    let text = page(&outcomes);
    assert_eq!(text.matches("liar").count(), 1);
    assert!(text.contains("WRONG: misses 7"));
}

#[test]
fn lines_are_for_a_few_and_bars_for_all() {
    let names: Vec<String> = (0..20).map(|k| format!("ours{k}")).collect();
    let many: Vec<(&str, bool, u64)> = names.iter().map(|name| (name.as_str(), false, 10)).collect();
    let text = page(&rows("pile", 1000, &many));
    assert!(text.contains("Lines are drawn for 8 rows, the same in every chart; 12 more are in bars and tables."));
    assert!(!page(&rows("pile", 1000, &PLAIN)).contains("Lines are drawn"));
    assert_eq!(text.matches("<title>ours19: ").count(), 2, "a bar for its time, a bar for its memory, no point of a line");
}

#[test]
fn neither_a_name_nor_the_json_nor_the_command_can_end_the_page_early() {
    let scene = "</script><b>\"x\"";
    let outcomes = rows(scene, 1000, &PLAIN);
    let json = "{\"scene\": \"</script><b>\"}";
    let text = Report { outcomes: &outcomes, json, command: "broadphase bench '</pre>'" }.render();
    assert_eq!((text.matches("</script>").count(), text.matches("<b>").count()), (2, 0));
    assert!(text.contains("{\"scene\": \"\\u003c/script>\\u003cb>\"}"));
    assert_eq!(text.matches("</pre>").count(), 1);
}

#[test]
fn a_command_line_can_be_pasted_into_a_shell() {
    assert_eq!(["pile:dim=2", "a b.npy", "it's", ""].map(quoted), ["pile:dim=2", "'a b.npy'", "'it'\\''s'", "''"]);
}
