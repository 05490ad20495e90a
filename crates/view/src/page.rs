//! The page: its parts put together into one file that loads nothing.

const HTML: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");
/// In the order in which they use each other; one scope holds them all.
const SCRIPTS: &[&str] = &[
    include_str!("../page/wire.js"),
    include_str!("../page/camera.js"),
    include_str!("../page/shaders.js"),
    include_str!("../page/renderer.js"),
    include_str!("../page/charts.js"),
    include_str!("../page/offline.js"),
    include_str!("../page/stream.js"),
    include_str!("../page/panel.js"),
    include_str!("../page/details.js"),
    include_str!("../page/pointer.js"),
    include_str!("../page/main.js"),
];

/// What a browser must not do with the page: load anything, send anything elsewhere, be framed. `socket` is the address of its stream.
pub fn policy(socket: &str) -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The page with `data` inside: nothing for a live page, a recording for one that was written.
pub fn assemble(title: &str, data: &str) -> String {
    let script = SCRIPTS.concat();
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // Markers are replaced from the end, so that what is inserted is not searched.
    let (before, rest) = HTML.split_once("/*STYLE*/").unwrap_or((HTML, ""));
    let (middle, rest) = rest.split_once("<!--DATA-->").unwrap_or((rest, ""));
    let (between, after) = rest.split_once("/*SCRIPT*/").unwrap_or((rest, ""));
    [&before.replace("TITLE", &title), STYLE, middle, data, between, &script, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_loads_nothing() {
        let page = assemble("a <b> & c", "<script type=\"text/plain\" id=\"recording\">AAAA</script>");
        assert!(page.contains("a &lt;b> &amp; c") && page.contains("id=\"recording\""));
        for marker in ["/*STYLE*/", "<!--DATA-->", "/*SCRIPT*/", "TITLE"] {
            assert!(!page.contains(marker), "{marker} was not replaced");
        }
        for way in ["http://", "https://", "import(", "fetch(", "XMLHttpRequest", "@import", "url(", "src="] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(way), "{way}");
        }
    }

    #[test]
    fn no_source_of_the_page_is_longer_than_a_screenful_of_files() {
        for source in SCRIPTS.iter().chain([&HTML, &STYLE]) {
            assert!(source.lines().count() <= 400, "{}", source.lines().next().unwrap_or_default());
        }
    }
}
