//! Mail and pages as dictionaries of Python, so that tests compare all that both readers read of them.

use crate::guard;
use crate::mail::html::read_html;
use crate::mail::message::{Html, Message, Raw};
use crate::mail::parse;
use pyo3::prelude::*;

/// The fields of a Message, by name; None if it is left to Python.
#[pyfunction]
fn parse_for_test(py: Python<'_>, data: &[u8]) -> Option<Message> {
    py.detach(|| guard(|| parse(&Raw::new(data))))
}

/// What a page of HTML holds, by the names of Html in Python; None if it is left to Python.
#[pyfunction]
fn read_html_for_test(py: Python<'_>, text: &str) -> Option<Html> {
    py.detach(|| guard(|| read_html(text)))
}

pub fn add_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_html_for_test, module)?)?;
    module.add_function(wrap_pyfunction!(parse_for_test, module)?)
}
