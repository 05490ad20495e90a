//! The shell of every page: one file, nothing loaded from outside.

use super::escape;

/// Two columns of charts on a laptop, one on a phone; light or dark as the system is; on paper light, with all tables open but those
/// that would fill pages.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1a1a1a;--soft:#555;--paper:#f6f6f4;--card:#fff;--rule:#d8d8d8;--link:#005a9c;--good:#00694a;--fair:#8a5a00;--bad:#a8280a}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eee;--soft:#b5b5b5;--paper:#121213;--card:#1c1c1e;--rule:#3c3c3f;--link:#7cc4ff;--good:#2fc79a;--fair:#e6b800;--bad:#ff8e70}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1340px;padding:16px;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:.5em 0}h2{font-size:1.25rem;margin:1.6em 0 .4em;line-height:1.3}h3{font-size:1.05rem;margin:1.2em 0 .3em}
p,ul,dl{margin:.5em 0;max-width:75ch}a{color:var(--link)}.soft,.absent{color:var(--soft)}
code,pre{font:.9em ui-monospace,'DejaVu Sans Mono',monospace}
pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:.6em .8em}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,370px),1fr));gap:16px;align-items:start;margin:12px 0}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:6px;min-width:0;max-width:560px}
figure svg{display:block;width:100%;height:auto}
figcaption{color:var(--soft);font-size:.9rem;padding:2px 8px}
details{padding:2px 8px}summary{cursor:pointer;color:var(--link)}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--soft);padding:4px 0;caption-side:bottom}
th,td{padding:3px 8px;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th:first-child,td.left,th.left{text-align:left}thead th{border-bottom:2px solid var(--rule)}
th.row{white-space:normal;min-width:9em;max-width:22em;font-weight:500}th small{font-weight:400}
td.text,th.text{text-align:left;white-space:normal;min-width:14em}
.lead{font-size:1.15rem;max-width:70ch}.note{max-width:75ch;color:var(--soft)}
.verdict{display:inline-block;border-radius:.9em;padding:1px 10px;font-size:.85rem;font-weight:600;white-space:normal;border:1px solid currentColor}
.confirmed{color:var(--good)}.partly{color:var(--fair)}.refuted{color:var(--bad)}.open,.not-run{color:var(--soft)}
.findings{display:grid;gap:12px;margin:12px 0}
.finding{background:var(--card);border:1px solid var(--rule);border-left:5px solid var(--soft);border-radius:8px;padding:8px 14px}
.finding.is-confirmed{border-left-color:var(--good)}.finding.is-partly{border-left-color:var(--fair)}.finding.is-refuted{border-left-color:var(--bad)}
.finding p{margin:.3em 0;max-width:none}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px}dt{color:var(--soft)}dd{margin:0}
@media print{body{max-width:none;background:#fff;font-size:10pt;padding:0}figure{max-width:none;break-inside:avoid}figure svg{max-width:12cm}
h2,h3{break-after:avoid}.charts{display:block}.charts figure{margin-bottom:12px}.screen,.long{display:none}summary{color:inherit;list-style:none}
details::details-content{content-visibility:visible;height:auto}.wide{overflow:visible}
table{font-size:7.5pt}th,td{white-space:normal;overflow-wrap:anywhere;padding:2px 4px}tr{break-inside:avoid}}
";

/// Tables with more rows than this are not printed.
const LONG: usize = 60;

/// A whole HTML file. `body` is HTML; `title` is text. A policy in its head forbids to load anything.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

/// A chart with its table below, collapsed at first. `caption` is HTML, and may be empty.
pub fn figure(svg: &str, table: &str, caption: &str) -> String {
    let caption = if caption.is_empty() { String::new() } else { format!("<figcaption>{caption}</figcaption>\n") };
    let long = if table.matches("<tr>").count() > LONG { " class=\"long\"" } else { "" };
    format!("<figure>\n{svg}{caption}<details{long}><summary>The figures as a table</summary>\n{table}</details>\n</figure>\n")
}
