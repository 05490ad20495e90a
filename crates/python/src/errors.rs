//! Errors of the library as Python exceptions; the classes are in `_errors.py`.

use broadphase::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// What an exception says: a stable code, a text for people, and where the fault is.
#[derive(Default)]
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) argument: Option<&'static str>,
    pub(crate) index: Option<usize>,
    pub(crate) axis: Option<usize>,
}

impl Fault {
    /// The exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let Self { code, message, argument, index, axis } = self;
        match python_function(py, &MAKE, "broadphase._errors", "make")
            .and_then(|make| make.call1((code, message, argument, index, axis)))
        {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let message = match &error {
            Error::TooManyPairs { limit } => {
                format!("more than {limit} pairs; use iter_pairs, which gives them in bounded arrays")
            }
            other => other.to_string(),
        };
        Self { code: error.code(), message, argument: error.argument(), index: error.index(), axis: error.axis() }
    }
}

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A function of the package's Python part, looked up once.
pub(crate) fn python_function<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let function = cell.get_or_try_init(py, || Ok::<_, PyErr>(py.import(module)?.getattr(name)?.unbind()))?;
    Ok(function.bind(py))
}

/// Turns an error of the library into an exception.
pub(crate) trait OrRaise<R> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<R>;
}

impl<R> OrRaise<R> for Result<R, Error> {
    fn or_raise(self, py: Python<'_>) -> PyResult<R> {
        self.map_err(|error| Fault::from(error).raise(py))
    }
}

/// An array of the wrong shape.
pub(crate) fn wrong_shape(py: Python<'_>, argument: &'static str, expected: &str, found: &[usize]) -> PyErr {
    let sizes: Vec<String> = found.iter().map(usize::to_string).collect();
    let found = if let [only] = &sizes[..] { format!("({only},)") } else { format!("({})", sizes.join(", ")) };
    let message = format!("{argument}: expected an array of shape {expected}, got shape {found}");
    Fault { code: "wrong-shape", message, argument: Some(argument), ..Fault::default() }.raise(py)
}

/// A number or a word that an argument does not take.
pub(crate) fn wrong_value(py: Python<'_>, argument: &'static str, expected: &str, found: &str) -> PyErr {
    let message = format!("{argument}: expected {expected}, got {found}");
    Fault { code: "invalid-value", message, argument: Some(argument), ..Fault::default() }.raise(py)
}
