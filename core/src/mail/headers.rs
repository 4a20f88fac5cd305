//! nbspam/mail/headers.py: where the header block starts and ends, its raw lines, its decoded fields.
//!
//! A block that is irregular is read by Python.

use super::encoded_words::decode_words;
use super::message::{Field, Read};
use super::transfer::is_white;
use crate::limits::{
    Allowance, MAX_FIELD_NAME, MAX_FROM_LINES, MAX_HEADER_BYTES, MAX_HEADER_LINES, MAX_PARAMETERS,
    MAX_PARAMETER_BYTES,
};
use crate::python::call;
use crate::tables::{list_words, Names, FIELDS};
use crate::text::{first, is_space, partition, rpartition, split_space};
use memchr::{memchr, memchr_iter, memmem};
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::LazyLock;

const HEADERS: &str = "nbspam.mail.headers";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
static CONTENT: Names = LazyLock::new(|| list_words(FIELDS, "content"));
static KNOWN: Names = LazyLock::new(|| list_words(FIELDS, "known"));
const ENCODED: &[u8] = b"=?"; // an encoded word
const ESCAPES: [&[u8]; 3] = [b"\x1b", b"\x0e", b"~{"]; // of ISO-2022 and HZ

/// A raw field: start, stop, lower-case name; "" for a line that is not a field.
pub type Span = (usize, usize, String);

pub fn from(data: &[u8], start: usize) -> &[u8] {
    data.get(start..).unwrap_or(&[])
}

pub fn between(data: &[u8], start: usize, stop: usize) -> &[u8] {
    from(data, start).get(..stop.saturating_sub(start)).unwrap_or(from(data, start))
}

/// `data.lstrip()`
pub fn trim_start(data: &[u8]) -> &[u8] {
    from(data, data.iter().take_while(|byte| is_white(byte)).count())
}

/// Without spaces and tabs around.
fn trim_blanks(data: &[u8]) -> &[u8] {
    let data = from(data, data.iter().take_while(|byte| is_blank(byte)).count());
    between(data, 0, data.iter().rposition(|byte| !is_blank(byte)).map_or(0, |last| last + 1))
}

/// `data.rstrip()`
pub fn trim_end(data: &[u8]) -> &[u8] {
    between(data, 0, data.iter().rposition(|byte| !is_white(byte)).map_or(0, |last| last + 1))
}

/// Text of Latin-1, one code point for each byte.
pub fn latin_1(data: &[u8]) -> String {
    if data.is_ascii() {
        return String::from_utf8_lossy(data).into_owned();
    }
    data.iter().map(|byte| char::from(*byte)).collect()
}

/// The bytes of such text; `?` for a code point beyond.
pub fn to_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Offset of the first header line, after a byte order mark and mbox "From " lines.
pub fn find_header(data: &[u8]) -> usize {
    let mut start = if data.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    for _ in 0..MAX_FROM_LINES {
        let line = from(data, start);
        if !(line.starts_with(b"From ") || line.starts_with(b">From ")) {
            break;
        }
        let line = line.get(..MAX_FIELD_NAME).unwrap_or(line);
        let mut rest = line.iter().skip_while(|byte| **byte != b' ').skip_while(|byte| is_blank(byte));
        if rest.next() == Some(&b':') {
            break; // the field "From : a@b.example" (RFC 5322, 4.5)
        }
        start = skip_line(data, start);
    }
    start
}

fn skip_line(data: &[u8], start: usize) -> usize {
    let rest = from(data, start);
    let stop = memchr(b'\n', rest).or_else(|| memchr(b'\r', rest));
    stop.map_or(data.len(), |stop| start + stop + 1)
}

/// (end of the header lines, start of the body): the first empty line at or after `start`.
pub fn find_blank_line(data: &[u8], start: usize) -> Read<(usize, usize)> {
    let (rest, end) = (from(data, start), data.len());
    if rest.starts_with(b"\n") {
        return Ok((start, start + 1));
    }
    let mut found = memmem::find(rest, b"\n\n").map_or((end, end), |at| (start + at + 1, start + at + 2));
    if let Some(at) = memmem::find(between(data, start, found.1), b"\n\r\n") {
        found = (start + at + 1, start + at + 3);
    }
    if rest.starts_with(b"\r") || has_lone_return(between(data, start, found.1)) {
        return call(HEADERS, "find_blank_line", (data, start));
    }
    Ok(found)
}

/// True if a CR is not a part of CRLF.
fn has_lone_return(data: &[u8]) -> bool {
    memchr_iter(b'\r', data).any(|at| data.get(at + 1) != Some(&b'\n'))
}

/// The raw fields of the top header block, see find_header_fields in Python; None if it is irregular.
pub fn find_header_fields(data: &[u8]) -> Read<Option<Vec<Span>>> {
    let start = find_header(data);
    Ok(find_raw_fields(data, start, find_blank_line(data, start)?.0))
}

/// Spans of the fields in data[start:stop]; None if a line is not a field, or if Python may not read all of them.
pub fn find_raw_fields(data: &[u8], start: usize, stop: usize) -> Option<Vec<Span>> {
    let mut fields: Vec<Span> = Vec::new();
    let mut position = start;
    while position < stop {
        let line = between(data, position, stop);
        let end = memchr(b'\n', line).map_or(stop, |feed| position + feed + 1);
        match fields.last_mut() {
            Some(last) if line.first().is_some_and(is_blank) => last.1 = end,
            _ => fields.push((position, end, find_name(line)?)),
        }
        position = end;
    }
    let is_long = stop.saturating_sub(start) > MAX_HEADER_BYTES;
    (!is_long && !has_lone_return(between(data, start, stop))).then_some(fields)
}

/// The lower-case name of the field that a line begins.
fn find_name(line: &[u8]) -> Option<String> {
    let line = between(line, 0, MAX_FIELD_NAME + 1);
    let name = between(line, 0, memchr(b':', line)?);
    let name = between(name, 0, name.iter().rposition(|byte| !is_blank(byte))? + 1);
    name.iter().all(u8::is_ascii_graphic).then(|| latin_1(&name.to_ascii_lowercase()))
}

/// True if a lower-case field name tells a header from text.
pub fn is_known(name: &str) -> bool {
    CONTENT.contains(&name) || KNOWN.contains(&name) || name.starts_with("x-")
}

/// A header block that was read, see HeaderBlock in Python.
#[derive(Debug, Default, FromPyObject)]
pub struct HeaderBlock {
    pub fields: Vec<Field>,
    pub sizes: Vec<usize>,
    pub content: Parameters,
    pub body: usize,
}

/// Read the fields in data[start:stop]; the text after the empty line begins at `body`.
///
/// spans : what find_raw_fields gives of them
pub fn read_block(
    data: &[u8],
    start: usize,
    stop: usize,
    body: usize,
    spans: Option<&[Span]>,
    allowance: &mut Allowance,
) -> Read<HeaderBlock> {
    let mut block = HeaderBlock { body, ..HeaderBlock::default() };
    if start >= stop {
        return Ok(block);
    }
    let raw = between(data, start, stop);
    let fields = split_fields(data, spans.unwrap_or_default(), &mut block.sizes);
    let is_plain = raw.is_ascii() && !has_escapes(raw) && !has_words(raw);
    let is_regular = is_plain || fields.iter().all(|(_, value)| is_decoded_here(value));
    let is_eight_bit = |(_, value): &(String, Vec<u8>)| !value.is_ascii() && !has_words(value);
    let has_eight_bit = !is_plain && fields.iter().any(is_eight_bit);
    if spans.is_none() || !is_regular || fields.len() > MAX_HEADER_LINES || memchr(b'\0', raw).is_some() {
        let given = (between(data, start, body), 0, stop - start, body - start);
        let found: HeaderBlock = allowance.ask(HEADERS, "read_block", given)?;
        return Ok(HeaderBlock { body: start + found.body, ..found });
    }
    allowance.header_bytes -= raw.len() as i64;
    for (name, value) in fields {
        if CONTENT.contains(&name.as_str()) {
            block.content.entry(name.clone()).or_insert_with(|| latin_1(&value));
        }
        let is_encoded = !is_plain && has_words(&value);
        let text = if is_encoded {
            decode_words(&value, allowance)?
        } else {
            String::from_utf8(value).unwrap_or_default()
        };
        block.fields.push((name, text));
    }
    if has_eight_bit {
        allowance.note("8bit-header");
    }
    Ok(block)
}

fn has_words(data: &[u8]) -> bool {
    memmem::find(data, ENCODED).is_some()
}

fn has_escapes(data: &[u8]) -> bool {
    ESCAPES.iter().any(|mark| memmem::find(data, mark).is_some())
}

/// True of a value that is ASCII, UTF-8 or has encoded words.
fn is_decoded_here(value: &[u8]) -> bool {
    let is_sound = if value.is_ascii() { !has_escapes(value) } else { std::str::from_utf8(value).is_ok() };
    is_sound || has_words(value)
}

/// The raw fields, unfolded.
fn split_fields(data: &[u8], spans: &[Span], sizes: &mut Vec<usize>) -> Vec<(String, Vec<u8>)> {
    let mut fields = Vec::with_capacity(spans.len());
    for (first, last, name) in spans {
        let mut line = unify_line_ends(between(data, *first, *last)).into_owned();
        line.retain(|byte| *byte != b'\n');
        sizes.push(line.len() + 1);
        let colon = memchr(b':', &line).unwrap_or(line.len());
        fields.push((name.clone(), trim_blanks(from(&line, colon + 1)).to_vec()));
    }
    fields
}

/// Parameters by lower-case name, of Latin-1.
pub type Parameters = BTreeMap<String, String>;

/// The parameter, or "".
pub fn get_parameter<'a>(parameters: &'a Parameters, name: &str) -> &'a str {
    parameters.get(name).map_or("", String::as_str)
}

/// "text/plain" and its parameters; of duplicates the first.  Nothing after MAX_PARAMETER_BYTES is read.
pub fn parse_parameters(value: &str, allowance: &mut Allowance) -> Read<(String, Parameters)> {
    let value = first(value, MAX_PARAMETER_BYTES);
    let (head, _, rest) = partition(value, ";");
    let mut words = split_space(head);
    let kind = words.next().unwrap_or_default().trim_matches(['"', '\'', ',']).to_lowercase();
    // RFC 2231, an escape, or the first semicolon is missing.
    if value.contains(['*', '\\']) || words.any(|word| word.contains('=')) {
        return allowance.ask(HEADERS, "parse_parameters", (value,));
    }
    let mut parameters = Parameters::new();
    for (name, text) in split_pairs(rest) {
        match parameters.entry(name) {
            Entry::Vacant(entry) => _ = entry.insert(text),
            Entry::Occupied(_) => allowance.note("duplicate-parameter"),
        }
    }
    Ok((kind, parameters))
}

/// (lower-case name, raw text) of each parameter in order.
fn split_pairs(rest: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = rest;
    for _ in 0..MAX_PARAMETERS {
        let Some((name, after)) = rest.split_once('=') else { break };
        let name = rpartition(rpartition(name, ";").2, ")").2.trim_matches(is_space).to_lowercase();
        let after = after.trim_start_matches([' ', '\t']);
        let (text, after) = match after.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some(quoted) => quoted,
            None => split_bare(after),
        };
        pairs.push((name, text.to_string()));
        rest = after;
    }
    pairs
}

/// A text without quotes, or with one that is never closed, and what follows it.
fn split_bare(after: &str) -> (&str, &str) {
    let (text, rest) = after.split_at(after.find(';').unwrap_or(after.len()));
    let text = text.trim_matches(is_space);
    let text = text.strip_prefix('"').unwrap_or(text);
    let bare = if text.ends_with(')') { partition(text, " (").0 } else { text }; // a comment
    (bare, rest)
}

/// The bytes with CRLF, CR CR LF and lone CR as LF.
pub fn unify_line_ends(data: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\r', data).is_none() {
        return Cow::Borrowed(data);
    }
    let mut found = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = memchr(b'\r', rest) {
        found.extend_from_slice(between(rest, 0, at));
        let returns = from(rest, at).iter().take_while(|byte| **byte == b'\r').count();
        rest = from(rest, at + returns);
        // Up to three before a line feed are one line end with it: Python replaces CR CR LF, then CR LF.
        let lines = if rest.first() == Some(&b'\n') { returns.saturating_sub(3) } else { returns };
        found.resize(found.len() + lines, b'\n');
    }
    found.extend_from_slice(rest);
    Cow::Owned(found)
}
