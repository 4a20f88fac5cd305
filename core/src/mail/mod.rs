//! nbspam/mail/__init__.py

pub mod dates;
pub mod headers;
pub mod html;
pub mod message;

use message::{Document, LeftToPython, Message, Part, Read};
use pyo3::prelude::*;

pub fn parse(data: &[u8]) -> Read<Message<'_>> {
    Python::with_gil(|py| -> PyResult<Message<'_>> {
        let bytes = pyo3::types::PyBytes::new(py, data);
        let m = py.import("nbspam.mail")?.getattr("parse")?.call1((bytes,))?;
        let mut parts = Vec::new();
        for p in m.getattr("parts")?.try_iter()? {
            let p = p?;
            let d = p.getattr("document")?;
            let document = if d.is_none() {
                None
            } else {
                Some(Document {
                    names: d.getattr("names")?.extract()?,
                    addresses: d.getattr("addresses")?.extract()?,
                    says: d.getattr("says")?.extract()?,
                    marks: d.getattr("marks")?.extract()?,
                    text: d.getattr("text")?.extract()?,
                })
            };
            parts.push(Part {
                content_type: p.getattr("content_type")?.extract()?,
                parameters: Vec::new(),
                charset: p.getattr("charset")?.extract()?,
                declared_charset: p.getattr("declared_charset")?.extract()?,
                encoding: p.getattr("encoding")?.extract()?,
                filename: p.getattr("filename")?.extract()?,
                disposition: p.getattr("disposition")?.extract()?,
                size_bytes: p.getattr("size_bytes")?.extract()?,
                text: p.getattr("text")?.extract()?,
                is_html: p.getattr("is_html")?.extract()?,
                is_replaced: p.getattr("is_replaced")?.extract()?,
                embedded_headers: p.getattr("embedded_headers")?.extract()?,
                embedded_names: p.getattr("embedded_names")?.extract()?,
                payload_magic: p.getattr("payload_magic")?.extract()?,
                document,
            });
        }
        Ok(Message {
            data,
            headers: m.getattr("headers")?.extract()?,
            header_sizes: m.getattr("header_sizes")?.extract()?,
            parts,
            structure: m.getattr("structure")?.extract()?,
            defects: m.getattr("defects")?.extract()?,
            body_bytes: m.getattr("body_bytes")?.extract()?,
        })
    })
    .map_err(|_| LeftToPython("parse-in-python"))
}
