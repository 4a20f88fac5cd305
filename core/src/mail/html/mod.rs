//! nbspam/mail/html/__init__.py
use super::message::{Html, LeftToPython, Read};
use pyo3::prelude::*;

pub fn read_html(text: &str) -> Read<Html> {
    Python::with_gil(|py| -> PyResult<Html> {
        let page = py.import("nbspam.mail.html.reader")?.getattr("read_html")?.call1((text,))?;
        Ok(Html {
            visible: page.getattr("visible")?.extract()?,
            hidden: page.getattr("hidden")?.extract()?,
            title: page.getattr("title")?.extract()?,
            tags: page.getattr("tags")?.extract()?,
            comments: page.getattr("comments")?.extract()?,
            joined: page.getattr("joined")?.extract()?,
            quoted: page.getattr("quoted")?.extract()?,
            links: page.getattr("links")?.extract()?,
            images: page.getattr("images")?.extract()?,
            alts: page.getattr("alts")?.extract()?,
            colours: Vec::new(),
        })
    })
    .map_err(|_| LeftToPython("html-in-python"))
}
