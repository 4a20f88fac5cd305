//! nbspam/mail/headers.py: where the header block starts and ends, its raw lines, its decoded fields.

use super::charset::{choose_header_codec, decode_raw};
use super::codecs::decode_with;
use super::encoded_words::decode_words;
use super::message::{Field, Read, RARE};
use super::transfer::is_white;
use crate::limits::{
    Allowance, MAX_FIELD_NAME, MAX_FROM_LINES, MAX_HEADER_BYTES, MAX_HEADER_LINES, MAX_PARAMETERS,
    MAX_PARAMETER_BYTES,
};
use crate::tables::{list_words, Names, FIELDS};
use crate::text::{first, is_space, partition, rpartition, split_space};
use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::LazyLock;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
static CONTENT: Names = LazyLock::new(|| list_words(FIELDS, "content"));
static KNOWN: Names = LazyLock::new(|| list_words(FIELDS, "known"));
const MAX_JUNK_LINES: usize = 2;
const MAX_JUNK_CHARACTERS: usize = 200;

/// A raw field: start, stop, lower-case name; "" for a line that is not a field.
pub type Span = (usize, usize, String);

/// Lower-case name and unfolded bytes.
type RawField = (String, Vec<u8>);

pub fn from<T>(data: &[T], start: usize) -> &[T] {
    data.get(start..).unwrap_or(&[])
}

pub fn between<T>(data: &[T], start: usize, stop: usize) -> &[T] {
    from(data, start).get(..stop.saturating_sub(start)).unwrap_or(from(data, start))
}

/// `data.lstrip()`
pub fn trim_start(data: &[u8]) -> &[u8] {
    from(data, data.iter().take_while(|byte| is_white(byte)).count())
}

fn trim_start_blanks(data: &[u8]) -> &[u8] {
    from(data, data.iter().take_while(|byte| is_blank(byte)).count())
}

fn trim_end_blanks(data: &[u8]) -> &[u8] {
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
pub fn find_blank_line(data: &[u8], start: usize) -> (usize, usize) {
    let (rest, end) = (from(data, start), data.len());
    if rest.starts_with(b"\n") || rest.starts_with(b"\r") {
        return (start, start + if rest.starts_with(b"\r\n") { 2 } else { 1 });
    }
    let mut found = memmem::find(rest, b"\n\n").map_or((end, end), |at| (start + at + 1, start + at + 2));
    if memchr(b'\r', between(data, start, found.0)).is_none() {
        return found;
    }
    for blank in [&b"\n\r\n"[..], b"\n\r\r\n"] {
        if let Some(at) = memmem::find(between(data, start, found.0 + 2), blank) {
            found = (start + at + 1, start + at + blank.len());
        }
    }
    if let Some(twice) = memmem::find(between(data, start, found.0), b"\r\r") {
        if memchr(b'\n', between(rest, 0, twice + 3)).is_none() {
            found = (start + twice + 1, start + twice + 2); // every line ends with a CR alone
        }
    }
    found
}

/// The raw fields of the top header block, see find_header_fields in Python.
pub fn find_header_fields(data: &[u8]) -> Vec<Span> {
    let start = find_header(data);
    find_raw_fields(data, start, find_blank_line(data, start).0)
}

/// Spans of the fields in data[start:stop], up to the first line that ends the block.
pub fn find_raw_fields(data: &[u8], start: usize, stop: usize) -> Vec<Span> {
    let limit = find_limit(data, start, stop);
    let mut fields: Vec<Span> = Vec::new();
    let (mut junk, mut position) = (0, start);
    while position < limit {
        let end = find_line_end(data, position, limit);
        let raw = between(data, position, end);
        let is_empty = raw == b"\r" && between(data, 0, position).ends_with(b"\n"); // not the rest of a CR CR LF
        let is_folded = !is_empty && raw.first().is_some_and(|byte| is_blank(byte) || is_line_end(byte));
        if let (true, Some(last)) = (is_folded, fields.last_mut()) {
            (last.1, position) = (end, end);
            continue;
        }
        let name = find_name(if fields.is_empty() { trim_start_blanks(raw) } else { raw });
        if name.is_empty() && (is_empty || !raw.iter().all(|byte| is_blank(byte) || is_line_end(byte))) {
            junk += 1;
            let is_long = junk > MAX_JUNK_LINES || raw.len() > MAX_JUNK_CHARACTERS || raw.starts_with(b"--");
            if fields.is_empty() || is_long || !has_known_line(data, position, limit) {
                return fields;
            }
        }
        fields.push((position, end, name));
        position = end;
    }
    if limit < stop {
        fields.push((limit, stop, String::new()));
    }
    fields
}

/// Where reading a block stops: at the last line end within MAX_HEADER_BYTES.
fn find_limit(data: &[u8], start: usize, stop: usize) -> usize {
    let limit = start + MAX_HEADER_BYTES;
    if stop <= limit {
        return stop;
    }
    between(data, start, limit).iter().rposition(is_line_end).map_or(limit, |at| start + at + 1)
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The end of the line at `start`, after its LF, CRLF or CR.
fn find_line_end(data: &[u8], start: usize, stop: usize) -> usize {
    let line = between(data, start, stop);
    let Some(at) = memchr2(b'\n', b'\r', line) else { return stop };
    start + at + if from(line, at).starts_with(b"\r\n") { 2 } else { 1 }
}

/// True if a line from `start` on is a well-known field.
fn has_known_line(data: &[u8], start: usize, stop: usize) -> bool {
    let mut position = start;
    while position < stop {
        let end = find_line_end(data, position, stop);
        let line = between(data, position, end.min(position + 100));
        if is_known(&latin_1(between(line, 0, memchr(b':', line).unwrap_or(line.len()))).to_lowercase()) {
            return true;
        }
        position = end;
    }
    false
}

/// The lower-case name of the field that a line begins, or "".
fn find_name(line: &[u8]) -> String {
    let line = between(line, 0, MAX_FIELD_NAME + 1);
    let name = trim_end_blanks(between(line, 0, memchr(b':', line).unwrap_or_default()));
    let is_graphic = name.iter().all(u8::is_ascii_graphic);
    latin_1(if is_graphic { name } else { b"" }).to_ascii_lowercase()
}

/// True if a lower-case field name tells a header from text.
pub fn is_known(name: &str) -> bool {
    CONTENT.contains(&name) || KNOWN.contains(&name) || (name.starts_with("x-") && !name.contains(' '))
}

/// A header block that was read, see HeaderBlock in Python.
#[derive(Debug, Default)]
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
    (start, stop, body): (usize, usize, usize),
    spans: &[Span],
    allowance: &mut Allowance,
) -> Read<HeaderBlock> {
    let mut block = HeaderBlock { body, ..HeaderBlock::default() };
    if start >= stop {
        return Ok(block);
    }
    let limit = find_limit(data, start, stop);
    if limit < stop {
        allowance.note("long-header");
    }
    let raw = between(data, start, limit);
    allowance.header_bytes -= raw.len() as i64;
    let spans = between(spans, 0, spans.partition_point(|span| span.0 < limit));
    let mut fields = split_fields(data, spans, &mut block.sizes, allowance);
    let end = spans.last().map_or(start, |span| span.1);
    if end < limit {
        block.body = end;
        allowance.note("no-header-end");
    }
    if memchr(b'\0', raw).is_some() {
        allowance.note("nul");
        fields.iter_mut().for_each(|(_, value)| value.retain(|byte| *byte != b'\0'));
    }
    for (name, value) in fields.iter().filter(|(name, _)| CONTENT.contains(&name.as_str())) {
        block.content.entry(name.clone()).or_insert_with(|| latin_1(value));
    }
    if fields.len() > MAX_HEADER_LINES {
        allowance.note("many-headers");
        fields.truncate(MAX_HEADER_LINES);
        block.sizes.truncate(MAX_HEADER_LINES);
    }
    decode_values(&mut block, fields, allowance)?;
    Ok(block)
}

/// Decode encoded words, escapes and raw 8-bit values.
fn decode_values(block: &mut HeaderBlock, fields: Vec<RawField>, allowance: &mut Allowance) -> Read<()> {
    let mut legacy: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut has_eight_bit = false;
    for (name, value) in fields {
        let text = if has_words(&value) {
            decode_words(&value, allowance)?
        } else if value.is_ascii() && has_escapes(&value) {
            decode_value(block, &name, &value, allowance)?
        } else {
            has_eight_bit |= !value.is_ascii();
            String::from_utf8(value).unwrap_or_else(|error| {
                legacy.push((block.fields.len(), error.into_bytes()));
                String::new()
            })
        };
        block.fields.push((name, text));
    }
    if has_eight_bit {
        allowance.note("8bit-header");
    }
    if legacy.is_empty() {
        return Ok(());
    }
    // All values share one guess: a single value is often too short for it.
    let sample = legacy.iter().map(|(_, value)| &value[..]).collect::<Vec<_>>().join(&b' ');
    let codec = choose_header_codec(&sample, &find_body_charset(block, allowance)?, allowance)?;
    for (number, value) in legacy {
        if let Some((_, text)) = block.fields.get_mut(number) {
            *text = decode_with(codec, &value)?;
        }
    }
    Ok(())
}

/// Decode a value with escapes of ISO-2022 or HZ; for parameters as UTF-8, since escapes hide quotes.
fn decode_value(
    block: &mut HeaderBlock,
    name: &str,
    value: &[u8],
    allowance: &mut Allowance,
) -> Read<String> {
    let charset = find_body_charset(block, allowance)?;
    let text = decode_raw(value, &charset, allowance)?;
    if let Some(content) = block.content.get_mut(name).filter(|content| content.as_bytes() == value) {
        *content = latin_1(text.as_bytes());
    }
    Ok(text)
}

/// The charset that Content-Type declares, lower-case, perhaps "".
fn find_body_charset(block: &HeaderBlock, allowance: &mut Allowance) -> Read<String> {
    let (_, parameters) = parse_parameters(get_parameter(&block.content, "content-type"), allowance)?;
    Ok(get_parameter(&parameters, "charset").to_lowercase())
}

fn has_words(data: &[u8]) -> bool {
    memchr(b'?', data).is_some() && memmem::find(data, b"=?").is_some()
}

/// True if bytes have escapes of ISO-2022 or HZ.
fn has_escapes(data: &[u8]) -> bool {
    memchr2(b'\x1b', b'\x0e', data).is_some()
        || (memchr(b'~', data).is_some() && memmem::find(data, b"~{").is_some())
}

/// The raw fields, unfolded; a line that is none is noted.
fn split_fields(
    data: &[u8],
    spans: &[Span],
    sizes: &mut Vec<usize>,
    allowance: &mut Allowance,
) -> Vec<RawField> {
    let mut fields = Vec::with_capacity(spans.len());
    for (first, last, name) in spans {
        let mut line = unify_line_ends(between(data, *first, *last)).into_owned();
        line.retain(|byte| *byte != b'\n');
        let line = trim_start_blanks(&line);
        if !name.is_empty() {
            sizes.push(line.len() + 1);
            let colon = memchr(b':', line).unwrap_or(line.len());
            fields.push((name.clone(), trim_start_blanks(trim_end_blanks(from(line, colon + 1))).to_vec()));
        } else if !line.is_empty() {
            allowance.note("bad-header");
        }
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
        return Err(RARE);
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
