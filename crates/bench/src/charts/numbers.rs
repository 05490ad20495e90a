//! Figures as people read them.

/// A figure with three digits or more, thousands apart by commas; a dash where there is none.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_string();
    }
    if size == 0.0 {
        return "0".to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    // A whole number needs no fraction, and 2.500 says no more than 2.5.
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    commas(text)
}

/// The shortest form, for axes and labels: 16k, 1M, 0.05.
pub fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        1e12.. => figure(value),
        1e9.. => format!("{}G", figure(value / 1e9)),
        1e6.. => format!("{}M", figure(value / 1e6)),
        1e3.. => format!("{}k", figure(value / 1e3)),
        _ => figure(value),
    }
}

/// Commas between groups of three digits of the whole part.
fn commas(text: &str) -> String {
    let start = usize::from(text.starts_with('-'));
    let end = text.find('.').unwrap_or(text.len());
    let mut out = String::with_capacity(text.len() + 4);
    for (k, letter) in text.char_indices() {
        if k > start && k < end && (end - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_more() {
        let shown = [0.0, 1.0, 2.5, 0.01234, 1234.56, -1234567.0, 99.96, 1e-9].map(figure);
        assert_eq!(shown, ["0", "1", "2.5", "0.0123", "1,235", "-1,234,567", "100", "1.00e-9"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(figure), ["-", "-"]);
    }

    #[test]
    fn ends_of_an_axis_are_short() {
        assert_eq!([1000.0, 16e3, 1.5e6, 2e9, 0.05, 500.0].map(short), ["1k", "16k", "1.5M", "2G", "0.05", "500"]);
    }
}
