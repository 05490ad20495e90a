//! Functions of curves, which are lists of points (x, y) in ascending order of x, mostly times over numbers of objects.

/// A curve.
pub type Points = Vec<(f64, f64)>;

/// The exponent of the power law that fits best: the slope of the line through the logarithms. `None` with fewer than two points.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = logs.iter().map(|(x, _)| (x - x_mean) * (x - x_mean)).sum();
    let common: f64 = logs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    (logs.len() >= 2 && spread > 0.0).then(|| common / spread)
}

/// The value at `x`, if the curve has that point.
pub fn at(points: &[(f64, f64)], x: f64) -> Option<f64> {
    points.iter().find(|point| point.0 == x).map(|point| point.1)
}

/// The last value.
pub fn last(points: &[(f64, f64)]) -> Option<f64> {
    points.last().map(|point| point.1)
}

/// The ratio of two curves where both have a point.
pub fn ratio(over: &[(f64, f64)], under: &[(f64, f64)]) -> Points {
    let common = over.iter().filter_map(|&(x, y)| at(under, x).map(|below| (x, y / below)));
    common.filter(|point| point.1.is_finite()).collect()
}

/// Where a curve of ratios falls to 1 and stays there: 0 if it is never above 1, infinity if its last point is. Between two points it is
/// interpolated linearly in logarithms. `None` without points.
pub fn falls_to_one(ratios: &[(f64, f64)]) -> Option<f64> {
    let (_, end) = *ratios.last()?;
    if end > 1.0 {
        return Some(f64::INFINITY);
    }
    let Some(above) = ratios.iter().rposition(|point| point.1 > 1.0) else { return Some(0.0) };
    let ((x0, y0), (x1, y1)) = (ratios[above], ratios[above + 1]);
    let part = if y1 > 0.0 { y0.ln() / (y0.ln() - y1.ln()) } else { 1.0 };
    Some((x0.ln() + part * (x1.ln() - x0.ln())).exp())
}

/// The largest value.
pub fn highest(points: &[(f64, f64)]) -> Option<f64> {
    points.iter().map(|point| point.1).max_by(f64::total_cmp)
}

/// The point with the smallest value.
pub fn lowest(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The geometric mean of factors. `None` without any.
pub fn geometric_mean(factors: &[f64]) -> Option<f64> {
    let sum: f64 = factors.iter().map(|factor| factor.ln()).sum();
    (!factors.is_empty()).then(|| (sum / factors.len() as f64).exp())
}

/// The median; `None` without values.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    broadphase_bench::Sorted::new(values).median()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(exponent: f64) -> Points {
        [1.0, 10.0, 100.0, 1000.0f64].map(|x| (x, 7.0 * x.powf(exponent))).into()
    }

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        for expected in [0.0, 1.0, 2.0] {
            assert!((exponent(&power(expected)).unwrap() - expected).abs() < 1e-9);
        }
        assert_eq!((exponent(&[(1.0, 1.0)]), exponent(&[])), (None, None));
    }

    #[test]
    fn curves_cross_where_their_ratio_falls_to_one() {
        // A cost of n² against one of 100 n: equal at 100.
        let ratios = ratio(&[(10.0, 1e3), (1000.0, 1e5)], &[(10.0, 1e2), (500.0, 1.0), (1000.0, 1e6)]);
        assert_eq!(ratios, [(10.0, 10.0), (1000.0, 0.1)]);
        assert!((falls_to_one(&ratios).unwrap() - 100.0).abs() < 1e-6);
        assert_eq!(falls_to_one(&[(1.0, 0.5), (2.0, 0.4)]), Some(0.0));
        assert_eq!(falls_to_one(&[(1.0, 0.5), (2.0, 1.4)]), Some(f64::INFINITY));
        assert_eq!(falls_to_one(&[]), None);
    }

    #[test]
    fn a_curve_that_rises_above_one_again_crosses_at_its_last_fall() {
        let crossing = falls_to_one(&[(1.0, 2.0), (2.0, 0.5), (4.0, 2.0), (8.0, 0.5)]).unwrap();
        assert!(crossing > 4.0 && crossing < 8.0);
    }

    #[test]
    fn means_and_extremes() {
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-9);
        let points = [(1.0, 3.0), (2.0, 1.0), (3.0, 2.0)];
        assert_eq!((highest(&points), lowest(&points), last(&points)), (Some(3.0), Some((2.0, 1.0)), Some(2.0)));
        assert_eq!((at(&points, 2.0), at(&points, 9.0), geometric_mean(&[])), (Some(1.0), None, None));
    }
}
