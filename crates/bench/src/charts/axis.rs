//! One axis: which values it spans, where they lie, and where its ticks are.

use super::Scale;

/// Beyond this, differences of two values could overflow.
const LARGEST: f64 = 1e300;

/// An axis over a range of values.
#[derive(Clone, Debug)]
pub struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Does a value have a place on an axis?
pub fn drawable(value: f64, scale: Scale) -> bool {
    value.abs() <= LARGEST && (scale == Scale::Linear || value >= 1.0 / LARGEST)
}

impl Axis {
    /// An axis over all drawable values; `None` if there are none. With `zero`, a linear axis reaches to 0, so that heights compare.
    pub fn over(values: impl Iterator<Item = f64>, scale: Scale, zero: bool) -> Option<Self> {
        let range = values.filter(|&value| drawable(value, scale)).fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (mut low, mut high) = range?;
        if scale == Scale::Linear && zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            (low, high) = match scale {
                Scale::Linear => (low - low.abs().max(1.0) * 0.5, high + high.abs().max(1.0) * 0.5),
                Scale::Log => (low / 2.0, high * 2.0),
            };
        }
        Some(Self { scale, low, high })
    }

    /// The axis, its ends moved outwards by a share of its length.
    pub fn widened(self, below: f64, above: f64) -> Self {
        let (low, high) = (self.transform(self.low), self.transform(self.high));
        let (low, high) = (low - (high - low) * below, high + (high - low) * above);
        match self.scale {
            Scale::Linear => Self { low, high, ..self },
            Scale::Log => Self { low: low.exp(), high: high.exp(), ..self },
        }
    }

    fn transform(&self, value: f64) -> f64 {
        if self.scale == Scale::Log { value.ln() } else { value }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; `None` if it has no place.
    pub fn place(&self, value: f64) -> Option<f64> {
        let (low, high) = (self.transform(self.low), self.transform(self.high));
        drawable(value, self.scale).then(|| (self.transform(value) - low) / (high - low))
    }

    /// Round values on the axis, about `count` of them, with their places.
    pub fn ticks(&self, count: usize) -> Vec<(f64, f64)> {
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, count),
            Scale::Log => log_ticks(self.low, self.high, count),
        };
        values.into_iter().filter_map(|value| Some((value, self.place(value)?))).collect()
    }

    /// The same, without those closer to the one before than `gap`, a share of the axis: their labels would overlap.
    pub fn ticks_apart(&self, count: usize, gap: f64) -> Vec<(f64, f64)> {
        let mut last = f64::NEG_INFINITY;
        let mut ticks = self.ticks(count);
        ticks.retain(|&(_, place)| {
            let apart = place - last >= gap;
            if apart {
                last = place;
            }
            apart
        });
        ticks
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let number = (last - first).clamp(0.0, 100.0) as usize;
    // Adding 0.0 turns -0 into 0.
    (0..=number).map(|k| (first + k as f64) * step + 0.0).collect()
}

/// Powers of ten, with round values between them where there is room; round differences where the range is narrower than that.
fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let inside = |value: &f64| (low * 0.9999..=high * 1.0001).contains(value);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let ladder = |steps: &[f64]| -> Vec<f64> {
        let tens = (first..=last).map(|power| 10f64.powi(power));
        tens.flat_map(|ten| steps.iter().map(move |step| step * ten)).filter(inside).collect()
    };
    let fine = ladder(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
    if fine.len() < 3 {
        return linear_ticks(low, high, count).into_iter().filter(|&value| value > 0.0).collect();
    }
    let ladders = [fine, ladder(&[1.0, 2.0, 5.0])];
    if let Some(fits) = ladders.into_iter().find(|ticks| ticks.len() <= count + 1) {
        return fits;
    }
    let tens = ladder(&[1.0]);
    let every = tens.len().div_ceil(count.max(1));
    tens.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64], scale: Scale) -> Vec<f64> {
        Axis::over(values.iter().copied(), scale, false).unwrap().ticks(6).into_iter().map(|tick| tick.0).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(&[0.0, 10.0], Scale::Linear), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(&[1e3, 1e6], Scale::Log), [1e3, 1e4, 1e5, 1e6]);
        assert_eq!(ticks(&[1.0, 30.0], Scale::Log), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(ticks(&[60.0, 430.0], Scale::Log), [70.0, 100.0, 150.0, 200.0, 300.0]);
        assert!(ticks(&[1.1, 1.4], Scale::Log).len() >= 2, "a narrow range on a logarithmic axis has ticks too");
        assert!(ticks(&[1e-290, 1e290], Scale::Log).len() <= 7);
        assert!(ticks(&[-1e300, 1e300], Scale::Linear).len() <= 12);
    }

    #[test]
    fn labels_of_ticks_that_are_kept_apart_do_not_overlap() {
        let axis = Axis::over([0.0092, 0.04].into_iter(), Scale::Log, false).unwrap();
        let (all, apart) = (axis.ticks(4), axis.ticks_apart(4, 0.2));
        assert!(apart.len() < all.len() && apart.len() >= 2);
        assert!(apart.windows(2).all(|two| two[1].1 - two[0].1 >= 0.2));
    }

    #[test]
    fn places_run_from_0_to_1() {
        let axis = Axis::over([1.0, 100.0].into_iter(), Scale::Log, true).unwrap();
        assert_eq!(
            [1.0, 10.0, 100.0].map(|value| axis.place(value).map(|place| (place * 1e6).round())),
            [Some(0.0), Some(5e5), Some(1e6)]
        );
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(|value| axis.place(value)), [None; 4]);
    }

    #[test]
    fn one_value_is_in_the_middle_and_none_is_no_axis() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::over([7.0].into_iter(), scale, false).unwrap();
            assert!((axis.place(7.0).unwrap() - 0.5).abs() < 1e-9);
            assert!(!axis.ticks(6).is_empty());
        }
        assert!(Axis::over([f64::NAN, f64::INFINITY].into_iter(), Scale::Linear, true).is_none());
        assert!(Axis::over([0.0, -3.0].into_iter(), Scale::Log, true).is_none());
    }
}
