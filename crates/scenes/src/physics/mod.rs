//! The small physics that several scenes share. Position-based and in fixed order: no clock, no thread, no map with random keys
//! feeds a result, so a frame follows from the last one bit by bit. All of it is O(n) a frame.

mod cells;
mod push;
mod sites;

pub(crate) use cells::Cells;
pub(crate) use push::PushApart;
pub(crate) use sites::Sites;

/// Reflects a place that left `[low, high]`, and its velocity. However far it went, it ends inside.
#[inline]
pub(crate) fn reflect(at: f32, velocity: f32, low: f32, high: f32) -> (f32, f32) {
    if at < low {
        ((2.0 * low - at).min(high), -velocity)
    } else if at > high {
        ((2.0 * high - at).max(low), -velocity)
    } else {
        (at, velocity)
    }
}
