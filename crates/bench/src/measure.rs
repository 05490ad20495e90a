//! Clocks, and statistics of their readings.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// The time of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Wall time from "here are the boxes" to "here are the pairs".
    pub wall: Duration,
    /// CPU time of the calling thread for the same; unknown where other threads take part.
    pub cpu: Option<Duration>,
    /// CPU time of the first part; unknown likewise.
    pub cpu_update: Option<Duration>,
    /// Wall time of the first part: the structure takes in the boxes.
    pub update: Duration,
    /// Wall time of the second part: the pairs are found.
    pub detect: Duration,
}

/// Runs the two parts of a frame under both clocks. The CPU clock is read outside of the wall times, since reading it is a system call.
pub fn timed<S, E>(
    state: &mut S,
    update: impl FnOnce(&mut S) -> Result<(), E>,
    detect: impl FnOnce(&mut S) -> Result<(), E>,
) -> Result<Timing, E> {
    let cpu = ThreadTime::try_now().ok();
    let start = Instant::now();
    update(state)?;
    let update = start.elapsed();
    let cpu_update = cpu.and_then(|cpu| cpu.try_elapsed().ok());
    let start = Instant::now();
    detect(state)?;
    let detect = start.elapsed();
    let cpu = cpu.and_then(|cpu| cpu.try_elapsed().ok());
    Ok(Timing { wall: update + detect, cpu, cpu_update, update, detect })
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Values in ascending order, and their quantiles.
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the values. Times are never NaN.
    pub fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// The middle value, or the mean of the two in the middle; `None` if there are no values.
    pub fn median(&self) -> Option<f64> {
        let (values, middle) = (&self.0, self.0.len() / 2);
        match values.len() {
            0 => None,
            count if count % 2 == 1 => Some(values[middle]),
            _ => Some((values[middle - 1] + values[middle]) / 2.0),
        }
    }

    /// The mean; `None` if there are no values.
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The smallest value that is not below `percent` % of all.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let rank = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied()
    }

    /// The smallest.
    pub fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    /// The largest.
    pub fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// All of them.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_few_values() {
        let sorted = Sorted::new([4.0, 1.0, 3.0, 2.0].into_iter());
        assert_eq!((sorted.median(), sorted.min(), sorted.max()), (Some(2.5), Some(1.0), Some(4.0)));
        assert_eq!((sorted.mean(), Sorted::new(std::iter::empty()).mean()), (Some(2.5), None));
        assert_eq!((sorted.percentile(95.0), sorted.percentile(50.0)), (Some(4.0), Some(2.0)));
        let hundred = Sorted::new((1..=100).map(f64::from));
        assert_eq!((hundred.percentile(95.0), hundred.percentile(99.0)), (Some(95.0), Some(99.0)));
        let none = Sorted::new(std::iter::empty());
        assert_eq!((none.median(), none.percentile(95.0), none.max()), (None, None, None));
    }

    #[test]
    fn both_parts_are_in_the_whole() {
        let pause = |_: &mut ()| -> Result<(), ()> {
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        };
        let timing = timed(&mut (), pause, pause).unwrap();
        assert_eq!(timing.wall, timing.update + timing.detect);
        assert!(timing.update >= Duration::from_millis(2) && timing.detect >= Duration::from_millis(2));
        assert!(timing.cpu.is_none_or(|cpu| cpu < timing.wall), "sleeping costs no CPU time");
    }
}
