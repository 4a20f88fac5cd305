//! nbspam/mail/headers.py: where the header block starts and ends, its raw lines, its decoded fields.

use super::charset::{decode_legacy, decode_raw};
use super::encoded_words::decode_words;
use super::message::{Field, Read, RARE};
use super::transfer::is_white;
use crate::limits::{
    Allowance, MAX_FIELD_NAME, MAX_FROM_LINES, MAX_HEADER_BYTES, MAX_HEADER_LINES, MAX_PARAMETERS,
    MAX_PARAMETER_BYTES,
};
use crate::text::{is_space, partition, rpartition, split_space};
use memchr::{memchr, memmem, memrchr};
use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const CONTENT: [&str; 3] = ["content-type", "content-transfer-encoding", "content-disposition"];
const ENCODED: [&[u8]; 4] = [b"=?", b"\x1b", b"\x0e", b"~{"]; // an encoded word, the escapes of ISO-2022 and HZ
#[rustfmt::skip]
const KNOWN: [&[u8]; 21] = [
    b"content-type", b"content-transfer-encoding", b"content-disposition", b"content-id", b"bcc", b"cc", b"date",
    b"delivered-to", b"envelope-to", b"from", b"in-reply-to", b"list-id", b"message-id", b"mime-version",
    b"received", b"references", b"reply-to", b"return-path", b"sender", b"subject", b"to",
];
const MAX_JUNK_LINES: usize = 2;
const MAX_JUNK_CHARACTERS: usize = 200;
const NAME_BYTES: usize = 100; // of a line, in which a well-known name is looked for

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

/// Offset of the first header line at or after `start`, after a byte order mark and mbox "From " lines.
pub fn find_header(data: &[u8], start: usize) -> usize {
    let mut start = start;
    if from(data, start).starts_with(BYTE_ORDER_MARK) {
        start += BYTE_ORDER_MARK.len();
    }
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
    let rest = from(data, start);
    if rest.starts_with(b"\n") || rest.starts_with(b"\r") {
        return (start, start + if rest.starts_with(b"\r\n") { 2 } else { 1 });
    }
    let end = data.len();
    let stop = memmem::find(rest, b"\n\n").map(|at| start + at);
    let mut found = stop.map_or((end, end), |stop| (stop + 1, stop + 2));
    if memchr(b'\r', between(data, start, found.0)).is_none() {
        return found;
    }
    for blank in [&b"\n\r\n"[..], b"\n\r\r\n"] {
        if let Some(at) = memmem::find(between(data, start, found.0 + 2), blank) {
            found = (start + at + 1, start + at + blank.len());
        }
    }
    if let Some(at) = memmem::find(between(data, start, found.0), b"\r\r") {
        let twice = start + at;
        if memchr(b'\n', between(data, start, twice + 3)).is_none() {
            found = (twice + 1, twice + 2); // every line ends with a CR alone
        }
    }
    found
}

/// The raw fields of the top header block, see find_header_fields in Python.
pub fn find_header_fields(data: &[u8]) -> Vec<Span> {
    let start = find_header(data, 0);
    find_raw_fields(data, start, find_blank_line(data, start).0)
}

/// Spans of the fields in data[start:stop], up to the first line that ends the block.
pub fn find_raw_fields(data: &[u8], start: usize, stop: usize) -> Vec<Span> {
    let mut fields: Vec<Span> = Vec::new();
    let limit = find_limit(data, start, stop);
    let lines = split_lines(between(data, start, limit));
    let mut last_known = None;
    let mut junk = 0;
    let mut position = start;
    for (number, raw) in lines.iter().enumerate() {
        let end = position + raw.len();
        let follows_feed = position.checked_sub(1).and_then(|before| data.get(before)) == Some(&b'\n');
        let is_empty = *raw == b"\r" && follows_feed; // not the rest of a CR CR LF
        let is_folded = matches!(raw.first(), Some(b' ' | b'\t' | b'\r' | b'\n')) && !is_empty;
        match fields.last_mut() {
            Some(last) if is_folded => last.1 = end,
            last => {
                let is_first = last.is_none();
                let name = find_name(raw);
                if name.is_empty() && (is_empty || has_text(raw)) {
                    junk += 1;
                    if junk == 1 {
                        last_known = find_last_known(&lines);
                    }
                    if is_first || last_known < Some(number) || !may_skip(junk, raw) {
                        return fields;
                    }
                }
                fields.push((position, end, name));
            }
        }
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
    let block = between(data, start, limit);
    let line_end = memrchr(b'\n', block).max(memrchr(b'\r', block));
    line_end.map_or(limit, |end| start + end + 1)
}

/// `bytes.splitlines(keepends=True)`
fn split_lines(data: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |at| {
            let is_pair = rest.get(at..at + 2) == Some(b"\r\n");
            at + if is_pair { 2 } else { 1 }
        });
        let (line, after) = rest.split_at(end);
        lines.push(line);
        rest = after;
    }
    lines
}

fn has_text(raw: &[u8]) -> bool {
    raw.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// The lower-case name of the field that a line begins; "" if it begins none.
fn find_name(raw: &[u8]) -> String {
    let blanks = raw.iter().take_while(|byte| is_blank(byte)).count(); // before the first field of a block
    let line = between(from(raw, blanks), 0, MAX_FIELD_NAME + 1);
    let Some(colon) = memchr(b':', line) else { return String::new() };
    let name = trim_blanks(between(line, 0, colon));
    let is_name = name.iter().all(u8::is_ascii_graphic);
    String::from_utf8(if is_name { name.to_ascii_lowercase() } else { Vec::new() }).unwrap_or_default()
}

/// Index of the last line that is a well-known field.
fn find_last_known(lines: &[&[u8]]) -> Option<usize> {
    lines.iter().rposition(|line| {
        let line = line.get(..NAME_BYTES).unwrap_or(line);
        let name = line.split(|byte| *byte == b':').next().unwrap_or(&[]);
        is_known(&name.to_ascii_lowercase())
    })
}

/// True if a lower-case field name tells a header from text.
pub fn is_known(name: &[u8]) -> bool {
    KNOWN.contains(&name) || (name.starts_with(b"x-") && !name.contains(&b' '))
}

/// True if this line is short enough to be skipped and cannot be the delimiter of a part.
fn may_skip(junk: usize, line: &[u8]) -> bool {
    junk <= MAX_JUNK_LINES && line.len() <= MAX_JUNK_CHARACTERS && !line.starts_with(b"--")
}

/// A header block that was read.
///
/// fields  : (lower-case name, unfolded and decoded value) in order
/// sizes   : bytes of each as it was sent, with one line end
/// content : raw values of the first Content-Type, -Transfer-Encoding and -Disposition
/// body    : offset of the text after the block
#[derive(Debug, Default)]
pub struct HeaderBlock {
    pub fields: Vec<Field>,
    pub sizes: Vec<usize>,
    pub content: Vec<(String, Vec<u8>)>,
    pub body: usize,
}

/// A field whose value is not decoded.
type RawField = (String, Vec<u8>);

impl HeaderBlock {
    /// A raw value of `content`.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.content.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// The charset that Content-Type declares, lower-case, perhaps "".
    fn find_body_charset(&self, allowance: &mut Allowance) -> Read<String> {
        let value = self.get("content-type").unwrap_or_default();
        Ok(get_parameter(&parse_parameters(value, allowance)?.1, "charset").to_lowercase())
    }

    /// Decode encoded words, escapes and raw 8-bit values: those as UTF-8, else all in one charset.
    fn decode_values(&mut self, fields: Vec<RawField>, allowance: &mut Allowance) -> Read<()> {
        let is_eight_bit = |value: &[u8]| !value.is_ascii() && memmem::find(value, b"=?").is_none();
        let has_eight_bit = fields.iter().any(|(_, value)| is_eight_bit(value));
        let mut legacy: Vec<(usize, Vec<u8>)> = Vec::new();
        for (number, (name, value)) in fields.into_iter().enumerate() {
            let text = if memmem::find(&value, b"=?").is_some() {
                decode_words(&value, allowance)?
            } else if value.is_ascii() && ENCODED.iter().any(|mark| memmem::find(&value, mark).is_some()) {
                self.decode_escapes(&name, &value, allowance)?
            } else {
                String::from_utf8(value).unwrap_or_else(|error| {
                    legacy.push((number, error.into_bytes()));
                    String::new()
                })
            };
            self.fields.push((name, text));
        }
        if has_eight_bit {
            allowance.note("8bit-header");
        }
        if legacy.is_empty() {
            return Ok(());
        }
        let charset = self.find_body_charset(allowance)?;
        let values: Vec<&[u8]> = legacy.iter().map(|(_, value)| value.as_slice()).collect();
        for ((number, _), text) in legacy.iter().zip(decode_legacy(&values, &charset, allowance)?) {
            if let Some((_, value)) = self.fields.get_mut(*number) {
                *value = text;
            }
        }
        Ok(())
    }

    /// A value that has escapes of ISO-2022 or HZ; for parameters as UTF-8, since escapes hide quotes.
    fn decode_escapes(&mut self, name: &str, value: &[u8], allowance: &mut Allowance) -> Read<String> {
        let charset = self.find_body_charset(allowance)?;
        let text = decode_raw(value, &charset, allowance)?;
        for (known, own) in &mut self.content {
            if known == name && own == value {
                *own = text.as_bytes().to_vec();
            }
        }
        Ok(text)
    }
}

/// Read the fields in data[start:stop]; the text after the empty line begins at `body`.
///
/// spans : what find_raw_fields gives of them
pub fn read_block(
    data: &[u8],
    start: usize,
    stop: usize,
    body: usize,
    spans: &[Span],
    allowance: &mut Allowance,
) -> Read<HeaderBlock> {
    let mut block = HeaderBlock { body, ..HeaderBlock::default() };
    if start >= stop {
        return Ok(block);
    }
    let raw = between(data, start, stop);
    if is_rare(raw) {
        return Err(RARE);
    }
    allowance.header_bytes -= raw.len() as i64;
    let end = spans.last().map_or(start, |(_, end, _)| *end);
    if spans.iter().any(|(_, _, name)| name.is_empty()) {
        allowance.note("bad-header");
    }
    if end < stop {
        block.body = end;
        allowance.note("no-header-end");
    }
    let fields = split_fields(data, spans, &mut block.sizes);
    if fields.len() > MAX_HEADER_LINES {
        return Err(RARE);
    }
    for (name, value) in &fields {
        if CONTENT.contains(&name.as_str()) && block.get(name).is_none() {
            block.content.push((name.clone(), value.clone()));
        }
    }
    if raw.is_ascii() && !ENCODED.iter().any(|mark| memmem::find(raw, mark).is_some()) {
        block.fields = fields.into_iter().map(|(name, value)| (name, latin_1(&value))).collect();
    } else {
        block.decode_values(fields, allowance)?;
    }
    Ok(block)
}

/// True of a block that is too long, begins with a blank, ends with an empty line, or has NUL in it.
fn is_rare(raw: &[u8]) -> bool {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let ends = from(raw, raw.iter().rposition(|byte| !is_end(byte)).unwrap_or(0));
    raw.len() > MAX_HEADER_BYTES
        || raw.first().is_some_and(|byte| is_blank(byte) || is_end(byte))
        || memmem::find(ends, b"\n\r").is_some()
        || memchr(b'\0', raw).is_some()
}

/// The raw fields, unfolded; lines that are none are left out.
fn split_fields(data: &[u8], spans: &[Span], sizes: &mut Vec<usize>) -> Vec<RawField> {
    let mut fields = Vec::with_capacity(spans.len());
    for (first, last, name) in spans.iter().filter(|(_, _, name)| !name.is_empty()) {
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
pub fn parse_parameters(value: &[u8], allowance: &mut Allowance) -> Read<(String, Parameters)> {
    let value = latin_1(between(value, 0, MAX_PARAMETER_BYTES));
    let (head, _, rest) = partition(&value, ";");
    let mut words = split_space(head);
    let kind = words.next().unwrap_or_default().trim_matches(['"', '\'', ',']).to_lowercase();
    // RFC 2231, an escape, or the first semicolon is missing.
    if value.contains(['*', '\\']) || words.any(|word| word.contains('=')) {
        return allowance.ask("nbspam.mail.headers", "parse_parameters", (&value,));
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
