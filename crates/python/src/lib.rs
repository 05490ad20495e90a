//! The extension module `broadphase._broadphase`: the library's calls over NumPy arrays.
//!
//! It contains no algorithm. A call goes through four files: `arguments.rs` borrows or converts the arrays, `call.rs` releases the interpreter
//! and listens for Ctrl-C, the library works, `output.rs` hands its memory to NumPy. `errors.rs` turns errors into exceptions.
//! What is easier to write in Python is in `python/broadphase`: exceptions (`_errors.py`), conversions of unusual arrays (`_convert.py`), named
//! results (`_results.py`).
#![deny(unsafe_code)]

mod arguments;
mod call;
mod errors;
mod memory;
mod mesh;
mod neighbors;
mod options;
mod output;
mod pairs;
mod world;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// All algorithms, in the order of their papers: name, origin, summary, and options with their defaults.
///
/// >>> import broadphase
/// >>> [a["name"] for a in broadphase.list_algorithms() if a["origin"] == "ours"]
/// ['tiles', 'auto']
#[pyfunction]
fn list_algorithms(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let describe = |algorithm: &::broadphase::Descriptor| {
        let entry = PyDict::new(py);
        entry.set_item("name", algorithm.name)?;
        entry.set_item("origin", format!("{:?}", algorithm.kind).to_lowercase())?;
        entry.set_item("paper", algorithm.paper)?;
        entry.set_item("summary", algorithm.summary)?;
        entry.set_item("dimensions", algorithm.dims)?;
        let shapes: Vec<String> = algorithm.shapes.iter().map(|shape| format!("{shape:?}").to_lowercase()).collect();
        entry.set_item("shapes", shapes)?;
        let options = PyDict::new(py);
        for option in algorithm.options {
            let about = PyDict::new(py);
            about.set_item("default", option.default)?;
            about.set_item("help", option.help)?;
            options.set_item(option.name, about)?;
        }
        entry.set_item("options", options)?;
        Ok(entry)
    };
    ::broadphase::algorithms::list().iter().map(describe).collect()
}

/// The compiled part of the package.
#[pymodule(gil_used = false)]
fn _broadphase(module: &Bound<'_, PyModule>) -> PyResult<()> {
    memory::prepare();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NO_HANDLE", world::NO_HANDLE)?;
    module.add_class::<pairs::PairChunks>()?;
    module.add_class::<world::PyWorld>()?;
    module.add_class::<world::PyUpdate>()?;
    module.add_function(wrap_pyfunction!(list_algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::pairs_between, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::count, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::iter_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::iter_pairs_between, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::_address, module)?)?;
    module.add_function(wrap_pyfunction!(neighbors::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(neighbors::neighbor_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::mesh_candidates, module)?)?;
    Ok(())
}
