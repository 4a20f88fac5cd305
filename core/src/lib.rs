//! The compiled reader of nbspam: the same tokens as nbspam/mail and nbspam/tokens, faster.
//!
//! Python is the specification.  Each file begins with the Python file that it equals.  What is rare is asked of
//! Python, or the whole message is left to it; nothing here decides, weighs or stores.

use pyo3::prelude::*;

mod mail;
mod tokens;

#[pymodule]
fn nbspam_core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
