//! nbspam/mail/headers.py: where the header block starts and ends, and its raw fields.

use crate::limits::{MAX_FIELD_NAME, MAX_FROM_LINES, MAX_HEADER_BYTES};
use memchr::{memchr, memmem, memrchr};
use std::borrow::Cow;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const MAX_JUNK_LINES: usize = 2;
const MAX_JUNK_CHARACTERS: usize = 200;
const NAME_BYTES: usize = 100; // of a line, in which a well-known name is looked for

/// A raw field: start, stop, lower-case name; "" for a line that is not a field.
pub type Span = (usize, usize, String);

fn from(data: &[u8], start: usize) -> &[u8] {
    data.get(start..).unwrap_or(&[])
}

fn between(data: &[u8], start: usize, stop: usize) -> &[u8] {
    from(data, start).get(..stop.saturating_sub(start)).unwrap_or(from(data, start))
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
                let name = find_name(raw, is_first);
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
fn find_name(raw: &[u8], is_first: bool) -> String {
    let blanks = if is_first { raw.iter().take_while(|byte| is_blank(byte)).count() } else { 0 };
    let line = from(raw, blanks);
    let line = line.get(..MAX_FIELD_NAME + 1).unwrap_or(line);
    let Some(colon) = memchr(b':', line) else { return String::new() };
    let before = line.get(..colon).unwrap_or(&[]);
    let size = before.iter().rposition(|byte| !is_blank(byte)).map_or(0, |last| last + 1);
    let name = before.get(..size).unwrap_or(&[]);
    if before.len() > MAX_FIELD_NAME || !name.iter().all(u8::is_ascii_graphic) {
        return String::new();
    }
    name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
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
fn is_known(name: &[u8]) -> bool {
    matches!(
        name,
        b"content-type"
            | b"content-transfer-encoding"
            | b"content-disposition"
            | b"content-id"
            | b"bcc"
            | b"cc"
            | b"date"
            | b"delivered-to"
            | b"envelope-to"
            | b"from"
            | b"in-reply-to"
            | b"list-id"
            | b"message-id"
            | b"mime-version"
            | b"received"
            | b"references"
            | b"reply-to"
            | b"return-path"
            | b"sender"
            | b"subject"
            | b"to"
    ) || (name.starts_with(b"x-") && !name.contains(&b' '))
}

/// True if this line is short enough to be skipped and cannot be the delimiter of a part.
fn may_skip(junk: usize, line: &[u8]) -> bool {
    junk <= MAX_JUNK_LINES && line.len() <= MAX_JUNK_CHARACTERS && !line.starts_with(b"--")
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
