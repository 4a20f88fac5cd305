//! nbspam/mail/headers.py
use pyo3::prelude::*;
use std::borrow::Cow;

pub fn find_header(data: &[u8], start: usize) -> usize {
    crate::python::call("nbspam.mail.headers", "find_header", (data, start)).unwrap_or(0)
}

pub fn find_header_fields(data: &[u8]) -> Vec<(usize, usize, String)> {
    crate::python::call("nbspam.mail.headers", "find_header_fields", (data,)).unwrap_or_default()
}

pub fn unify_line_ends(data: &[u8]) -> Cow<'_, [u8]> {
    let found: Vec<u8> = Python::with_gil(|py| {
        let bytes = pyo3::types::PyBytes::new(py, data);
        py.import("nbspam.mail.headers")
            .unwrap()
            .getattr("unify_line_ends")
            .unwrap()
            .call1((bytes,))
            .unwrap()
            .extract()
            .unwrap()
    });
    Cow::Owned(found)
}
