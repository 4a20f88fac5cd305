//! Mail and pages as dictionaries of Python, so that tests compare all that both readers read of them.

use crate::guard;
use crate::mail::html::read_html;
use crate::mail::message::{Document, Message, Part};
use crate::mail::parse;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The fields of a Message, by name; None if it is left to Python.
#[pyfunction]
pub fn parse_for_test<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Option<Bound<'py, PyDict>>> {
    py.allow_threads(|| guard(|| parse(data))).map(|message| describe(py, message)).transpose()
}

fn describe<'py>(py: Python<'py>, message: Message) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("headers", message.headers)?;
    found.set_item("header_sizes", message.header_sizes)?;
    found.set_item("structure", message.structure)?;
    found.set_item("defects", message.defects)?;
    found.set_item("body_bytes", message.body_bytes)?;
    let parts = message.parts.into_iter().map(|part| describe_part(py, part));
    found.set_item("parts", parts.collect::<PyResult<Vec<_>>>()?)?;
    Ok(found)
}

fn describe_part(py: Python<'_>, part: Part) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for (name, text) in [
        ("content_type", part.content_type),
        ("charset", part.charset),
        ("declared_charset", part.declared_charset),
        ("encoding", part.encoding),
        ("filename", part.filename),
        ("disposition", part.disposition),
        ("text", part.text),
    ] {
        found.set_item(name, text)?;
    }
    found.set_item("parameters", part.parameters)?;
    found.set_item("size_bytes", part.size_bytes)?;
    found.set_item("is_html", part.is_html)?;
    found.set_item("is_replaced", part.is_replaced)?;
    found.set_item("embedded_headers", part.embedded_headers)?;
    found.set_item("embedded_names", part.embedded_names)?;
    found.set_item("payload_magic", PyBytes::new(py, &part.payload_magic))?;
    found.set_item("document", part.document.map(|document| describe_document(py, document)).transpose()?)?;
    Ok(found)
}

fn describe_document(py: Python<'_>, document: Document) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("names", document.names)?;
    found.set_item("addresses", document.addresses)?;
    found.set_item("says", document.says)?;
    found.set_item("marks", document.marks)?;
    found.set_item("text", document.text)?;
    Ok(found)
}

/// What a page of HTML holds, by the names of Html in Python; None if it is left to Python.
#[pyfunction]
pub fn read_html_for_test<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(html) = py.allow_threads(|| guard(|| read_html(text))) else { return Ok(None) };
    let found = PyDict::new(py);
    for (name, text) in [("visible", html.visible), ("hidden", html.hidden), ("title", html.title)] {
        found.set_item(name, text)?;
    }
    for (name, number) in
        [("tags", html.tags), ("comments", html.comments), ("joined", html.joined), ("quoted", html.quoted)]
    {
        found.set_item(name, number)?;
    }
    found.set_item("links", html.links)?;
    found.set_item("images", html.images)?;
    found.set_item("alts", html.alts)?;
    found.set_item("colours", html.colours)?;
    Ok(Some(found))
}
