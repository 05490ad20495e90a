//! Charts as text: a struct of figures in, a self-contained SVG and an HTML table with the same figures out.
//!
//! An SVG carries its own style, so it looks the same in a page, in a README and in a file of its own: light or dark as the reader's
//! system is, light on paper, and no script. Colors are those of Okabe and Ito, darkened or lightened until they stand out from the
//! background; each series also has its own marker and dashes, so that series differ not by color alone. The first series stands out a little:
//! it is the one that the chart is about. There is no plotting crate behind this: one would add its dependencies to the default build, and offers
//! neither themes nor tables.
//!
//! Any input gives a valid chart. What has no place (NaN, infinities, zero or less on a logarithmic axis) is left out of the picture and
//! is a dash in the table; names are escaped, and shortened in the picture only.

mod axis;
mod bar;
mod drawn_rows;
mod groups;
mod line;
mod numbers;
mod page;
mod radar;
mod svg;

pub use bar::BarChart;
pub use drawn_rows::{DEFAULT, Entry, rows_to_draw};
pub use line::{LineChart, Series};
pub use numbers::{figure as number, short};
pub use page::{figure, page};
pub use radar::RadarChart;
pub use svg::escape;

/// How values become places on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal factors are equally far apart; only values above 0 have a place.
    Log,
}

/// An HTML table: the first cell of each row is its heading, all others are figures.
pub fn html_table(caption: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        let rest: String = row.iter().skip(1).map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        format!("<tr><th>{}</th>{rest}</tr>\n", escape(row.first().map_or("", String::as_str)))
    };
    let body: String = rows.iter().map(|row| cells(row, "td")).collect();
    let caption = if caption.is_empty() { String::new() } else { format!("<caption>{}</caption>\n", escape(caption)) };
    let head = cells(head, "th");
    format!("<div class=\"wide\"><table>{caption}<thead>{head}</thead>\n<tbody>{body}</tbody></table></div>\n")
}

#[cfg(test)]
mod tests;
