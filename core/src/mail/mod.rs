//! nbspam/mail/__init__.py: bytes to Message, whatever the bytes are.

pub mod charset;
pub mod dates;
mod encoded_words;
pub mod headers;
pub mod html;
mod leaf;
pub mod message;
mod splitter;
mod transfer;

use crate::limits::{Allowance, MAX_SCORED_BYTES};
use crate::python::{note_asked, run};
use headers::{between, find_blank_line, find_header, is_known, read_block, unify_line_ends, HeaderBlock};
use leaf::{begin_part, is_message, read_leaf};
use message::{LeftToPython, Message, Read, RARE};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use splitter::Splitter;

/// Take a mail apart.
pub fn parse(data: &[u8]) -> Read<Message<'_>> {
    match take_apart(data) {
        Err(RARE) => {
            note_asked("nbspam.mail", "parse");
            run(|py| parse_in_python(py, data))?.ok_or(LeftToPython("failure-in-python"))
        }
        found => found,
    }
}

fn parse_in_python<'a>(py: Python, data: &'a [u8]) -> PyResult<Option<Message<'a>>> {
    let message = py.import("nbspam.mail")?.getattr("parse")?.call1((PyBytes::new(py, data),))?;
    let found = Message {
        data,
        headers: message.getattr("headers")?.extract()?,
        header_sizes: message.getattr("header_sizes")?.extract()?,
        parts: message.getattr("parts")?.extract()?,
        structure: message.getattr("structure")?.extract()?,
        defects: message.getattr("defects")?.extract()?,
        body_bytes: message.getattr("body_bytes")?.extract()?,
    };
    Ok(message.getattr("failures")?.is_empty()?.then_some(found))
}

fn take_apart(data: &[u8]) -> Read<Message<'_>> {
    let mut message = Message { data, ..Message::default() };
    let mut allowance = Allowance::new();
    let block = read_header(&mut message, data, &mut allowance)?;
    read_body(&mut message, data, &block, &mut allowance)?;
    message.defects = allowance.defects;
    Ok(message)
}

fn read_header(message: &mut Message, data: &[u8], allowance: &mut Allowance) -> Read<HeaderBlock> {
    let start = find_header(data, 0);
    let (stop, body) = find_blank_line(data, start);
    let mut block = read_block(data, start, stop, body, allowance)?;
    if !block.fields.is_empty() && !block.fields.iter().any(|(name, _)| is_known(name.as_bytes())) {
        allowance.note("no-header"); // text that begins with "word: ..."
        block = HeaderBlock { body: start, ..HeaderBlock::default() };
    }
    message.headers = std::mem::take(&mut block.fields);
    message.header_sizes = std::mem::take(&mut block.sizes);
    Ok(block)
}

fn read_body(message: &mut Message, data: &[u8], block: &HeaderBlock, allowance: &mut Allowance) -> Read<()> {
    if data.len().saturating_sub(block.body) > MAX_SCORED_BYTES {
        allowance.note("long-body");
    }
    let text = unify_line_ends(between(data, block.body, block.body + MAX_SCORED_BYTES));
    message.body_bytes = text.len() - text.iter().rev().take_while(|byte| **byte == b'\n').count();
    let part = begin_part(block, allowance)?;
    if part.content_type.starts_with("multipart/") || is_message(&part.content_type) {
        return Splitter::new(message, allowance).run(part, text.into_owned());
    }
    message.structure.push(part.content_type.clone());
    message.parts.push(read_leaf(part, text, allowance)?);
    Ok(())
}
