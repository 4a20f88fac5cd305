//! Mail and pages as dictionaries of Python, so that tests compare all that both readers read of them.

use crate::guard;
use crate::mail::html::read_html;
use crate::mail::message::{Html, Message};
use crate::mail::parse;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The fields of a Message, by name; None if it is left to Python.
#[pyfunction]
pub fn parse_for_test<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(message) = py.allow_threads(|| guard(|| parse(data))) else { return Ok(None) };
    let Message { headers, header_sizes, parts, structure, defects, body_bytes, .. } = message;
    let found = PyDict::new(py);
    found.set_item("headers", headers)?;
    found.set_item("header_sizes", header_sizes)?;
    found.set_item("structure", structure)?;
    found.set_item("defects", defects)?;
    found.set_item("body_bytes", body_bytes)?;
    found.set_item("parts", parts)?;
    Ok(Some(found))
}

/// What a page of HTML holds, by the names of Html in Python; None if it is left to Python.
#[pyfunction]
pub fn read_html_for_test(py: Python<'_>, text: &str) -> Option<Html> {
    py.allow_threads(|| guard(|| read_html(text)))
}
