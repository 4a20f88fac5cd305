//! nbspam/mail/__init__.py: bytes to Message, whatever the bytes are.

pub mod charset;
mod codecs;
pub mod dates;
mod encoded_words;
mod guess;
pub mod headers;
pub mod html;
mod leaf;
pub mod message;
mod splitter;
pub mod transfer;

use crate::limits::{Allowance, MAX_SCORED_BYTES};
use crate::python::{note_asked, run};
use headers::{between, find_blank_line, find_header, is_known, read_block, unify_line_ends, HeaderBlock};
use leaf::{begin_part, read_leaf, MESSAGES};
use message::{LeftToPython, Message, Raw, Read, RARE};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use splitter::Splitter;

/// Take a mail apart.
pub fn parse(raw: &Raw) -> Read<Message> {
    match take_apart(raw) {
        Err(RARE) => {
            note_asked("nbspam.mail", "parse");
            run(|py| parse_in_python(py, raw.data))?.ok_or(LeftToPython("failure-in-python"))
        }
        found => found,
    }
}

fn parse_in_python(py: Python, data: &[u8]) -> PyResult<Option<Message>> {
    let message = py.import("nbspam.mail")?.getattr("parse")?.call1((PyBytes::new(py, data),))?;
    let is_sound = message.getattr("failures")?.is_empty()?;
    Ok(if is_sound { Some(message.extract()?) } else { None })
}

fn take_apart(raw: &Raw) -> Read<Message> {
    let mut message = Message::default();
    let mut allowance = Allowance::default();
    let block = read_header(&mut message, raw, &mut allowance)?;
    read_body(&mut message, raw.data, &block, &mut allowance)?;
    message.defects = allowance.defects;
    Ok(message)
}

fn read_header(message: &mut Message, raw: &Raw, allowance: &mut Allowance) -> Read<HeaderBlock> {
    let start = find_header(raw.data);
    let (stop, body) = find_blank_line(raw.data, start);
    let mut block = read_block(raw.data, (start, stop, body), &raw.spans, allowance)?;
    if !block.fields.is_empty() && !block.fields.iter().any(|(name, _)| is_known(name)) {
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
    let part = begin_part(&block.content, allowance)?;
    if part.content_type.starts_with("multipart/") || MESSAGES.contains(&part.content_type.as_str()) {
        return Splitter::new(message, allowance).run(part, text.into_owned());
    }
    message.structure.push(part.content_type.clone());
    message.parts.push(read_leaf(part, text, allowance)?);
    Ok(())
}
