//! The page with a short recording inside, to be shared.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use broadphase_bench::failure::Failure;

use crate::commands::View;
use crate::{Request, lists, page, simulation};

/// Bytes of frames in a page, before they become text.
const BYTES: usize = 12 << 20;
/// Frames in a page, unless they are too large.
const FRAMES: usize = 90;
/// Boxes in a frame.
const BUDGET: usize = 20_000;

/// Runs the first frames and writes them into a page.
pub fn page(request: &Request) -> Result<String, Failure> {
    let mut simulation = simulation::open(request)?;
    let view = View { budget: BUDGET, places: true, ..View::default() };
    let mut bytes = Vec::new();
    for number in 0..simulation.frames().min(FRAMES) {
        simulation.go_to(number)?;
        let message = simulation.message(&view).encode();
        if number > 0 && bytes.len() + message.len() > BYTES {
            break;
        }
        bytes.extend_from_slice(&(message.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&[0; 8]); // messages start at multiples of 16
        bytes.extend_from_slice(&message);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    // No `<` can end the element early: JSON has it escaped.
    let hello = lists::hello(request).to_string().replace('<', "\\u003c");
    let data = format!(
        "<script type=\"application/json\" id=\"hello\">{hello}</script>\n<script type=\"text/plain\" id=\"recording\">{}</script>",
        STANDARD.encode(&bytes)
    );
    Ok(page::assemble(&request.origin.name(), &data))
}
