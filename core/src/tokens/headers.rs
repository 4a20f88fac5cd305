//! nbspam/tokens/headers.py: header fields become tokens of the header view.

use super::bag::Words;
use super::characters::is_upper;
use super::words::{has_zero_width, make_skip_token, push_parents, split_words, MAX_WORD};
use crate::limits::MAX_TOKENS;
use crate::mail::message::{Field, Message, Read};
use crate::tables::{list_words, Names, FIELDS};
use crate::text::{find_runs, first, is_digit, is_longer, lower, rpartition, split_kept, split_space};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const MAX_FIELD_WORDS: usize = 400;
const MAX_TOKEN_NAME: usize = 60;
const MIN_CODE: usize = 24;
const MIN_CODED: usize = 60;
const MAX_ZONE: usize = 6;
const MAX_ORDER: usize = 200;
const ODD: &str = "#odd";
const SHAPED: usize = 60;
const MAX_SHAPE: usize = 24;

static DATED: Names = LazyLock::new(|| list_words(FIELDS, "dated"));
static TRACE: Names = LazyLock::new(|| list_words(FIELDS, "trace"));
static ADDRESSES: Names = LazyLock::new(|| list_words(FIELDS, "addresses"));
static IDENTIFIERS: Names = LazyLock::new(|| list_words(FIELDS, "identifiers"));
static LISTS: Names = LazyLock::new(|| list_words(FIELDS, "lists"));
static SENT: Names = LazyLock::new(|| list_words(FIELDS, "sent"));
static ADDED: Names = LazyLock::new(|| list_words(FIELDS, "added"));
static CALENDAR: Names =
    LazyLock::new(|| [list_words(FIELDS, "days"), list_words(FIELDS, "months")].concat());
/// Names of fields that are no evidence; a zero ends a beginning.  No name begins with two of these.
static NO_EVIDENCE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let names = ["notes", "verdicts"].into_iter().flat_map(|part| list_words(FIELDS, part));
    names.filter(|name| !name.starts_with(WITH_WORD)).map(|name| name.replace('*', "\0")).collect()
});
/// Words that no name has that is evidence and begins with `x-`.
static OTHERS_WORDS: Names = LazyLock::new(|| {
    let names = list_words(FIELDS, "verdicts").into_iter();
    names.filter_map(|name| name.strip_prefix(WITH_WORD)).map(|name| name.trim_end_matches('*')).collect()
});
const WITH_WORD: &str = "x-*";

/// True unless a field is no evidence.
pub fn counts_as_evidence(name: &str) -> bool {
    // Only the last one before what begins with the name can be it or begin it; the zero is before all else.
    let last = NO_EVIDENCE.range(..=format!("{name}\0")).next_back();
    let is_note = last.is_some_and(|last| match last.strip_suffix('\0') {
        Some(beginning) => name.starts_with(beginning),
        None => last == name,
    });
    !(is_note || (name.starts_with("x-") && OTHERS_WORDS.iter().any(|word| name.contains(word))))
}

/// The name of a field as tokens have it; "" if the field does not count.
fn find_token_name(name: &str) -> Read<&str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    Ok(if !counts_as_evidence(name) {
        ""
    } else if !name.bytes().all(is_plain) || name.len() > MAX_TOKEN_NAME {
        ODD
    } else {
        name
    })
}

/// The fields of a message as tokens, and what else their names say.
#[derive(Default)]
pub struct Header {
    pub tokens: Words,
    pub sent: Words,
    /// Which field follows which: tokens of the structure view.
    pub order: Words,
    /// Size of the message without the fields that do not count.
    pub size_bytes: usize,
}

/// Tokens of all fields that count, and those of them that the sender has written.
pub fn tokenize_header(message: &Message) -> Read<Header> {
    let mut header = Header { size_bytes: message.body_bytes, ..Header::default() };
    header.tokens.reserve(2 * message.header_sizes.iter().sum::<usize>());
    let mut places = Vec::with_capacity(message.headers.len());
    for (number, field) in message.headers.iter().enumerate() {
        let (name, text) = field;
        let shown = find_token_name(name)?;
        if !shown.is_empty() {
            header.size_bytes += message.header_sizes.get(number).copied().unwrap_or(0);
            if ![&LISTS, &DATED, &ADDED].iter().any(|names| names.contains(&shown)) {
                places.push(shown);
            }
        }
        let before = header.tokens.len();
        tokenize_field(field, shown, &mut header.tokens)?;
        if SENT.contains(&shown) {
            (before..header.tokens.len()).for_each(|number| header.sent.push(header.tokens.get(number)));
        }
        if name == "message-id" {
            header.sent.push(text);
        }
    }
    for pair in places.get(..MAX_ORDER).unwrap_or(&places).windows(2) {
        if let [first, second] = pair {
            header.order.push_pieces(&["order=", first, ">", second]);
        }
    }
    header.tokens.truncate(MAX_TOKENS);
    header.sent.truncate(MAX_TOKENS);
    Ok(header)
}

fn tokenize_field((name, text): &Field, shown: &str, found: &mut Words) -> Read<()> {
    if shown.is_empty() {
        return Ok(());
    }
    found.push_pieces(&["field:", shown]);
    if shown == ODD {
        return Ok(());
    }
    let prefix = [name, ":"].concat();
    let is_dated = DATED.contains(&shown);
    if is_dated || TRACE.contains(&shown) {
        let before_time = if is_dated { rpartition(text, ";").0 } else { "" };
        let text = if before_time.is_empty() { text } else { before_time };
        tokenize_chunks(text, tokenize_trace, &prefix, found);
    } else if ADDRESSES.contains(&shown) {
        tokenize_chunks(text, tokenize_address, &prefix, found);
        tokenize_beyond_ascii(&prefix, text, found)?;
    } else if IDENTIFIERS.contains(&shown) {
        tokenize_chunks(text, tokenize_identifier, &prefix, found);
    } else if LISTS.contains(&shown) {
        // All nine say what List-Id says.
    } else if name.ends_with("date") || name.ends_with("time") {
        tokenize_date(&prefix, text, found)?;
    } else if name == "subject" {
        tokenize_subject(text, found)?;
    } else {
        let is_cut = is_longer(text, MIN_CODED - 1);
        let text = if is_cut { Cow::Owned(remove_codes(text)) } else { Cow::Borrowed(text.as_str()) };
        split_words(&text, MAX_FIELD_WORDS, &prefix, found)?;
    }
    Ok(())
}

/// Words of an address field that are not ASCII as it is written.
fn tokenize_beyond_ascii(prefix: &str, text: &str, found: &mut Words) -> Read<()> {
    if !text.is_ascii() {
        let foreign: Vec<&str> = split_space(text).filter(|piece| !piece.is_ascii()).collect();
        split_words(&foreign.join(" "), MAX_FIELD_WORDS, prefix, found)?;
    }
    Ok(())
}

/// The text without signatures, keys and sealed notes: runs of base64.
fn remove_codes(text: &str) -> String {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut kept: Vec<&str> = Vec::new();
    let mut start = 0;
    for (at, run) in find_runs(text.as_bytes(), MIN_CODE, is_base64).filter(|(_, run)| !is_of_one_kind(run)) {
        kept.push(text.get(start..at).unwrap_or_default());
        start = at + run.len();
    }
    kept.push(text.get(start..).unwrap_or_default());
    kept.join(" ")
}

/// True if `str.islower`, `isupper`, `isalpha` or `isdigit` is true of ASCII.
fn is_of_one_kind(run: &[u8]) -> bool {
    let (has_lower, has_upper) =
        (run.iter().any(u8::is_ascii_lowercase), run.iter().any(u8::is_ascii_uppercase));
    has_lower != has_upper || run.iter().all(u8::is_ascii_alphabetic) || run.iter().all(u8::is_ascii_digit)
}

/// The tokens of the chunks of a trace, address or identifier field.
fn tokenize_chunks(text: &str, tokenize: fn(&str, &str, &mut Words), prefix: &str, found: &mut Words) {
    let text = text.to_ascii_lowercase();
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'@');
    for piece in split_kept(&text, is_kept).take(MAX_FIELD_WORDS) {
        tokenize(piece.trim_matches(['.', '-', '_']), prefix, found);
    }
}

/// Received and its kin: names and addresses with parents; queue numbers and times are dropped.
fn tokenize_trace(chunk: &str, prefix: &str, found: &mut Words) {
    if chunk.contains('@') {
        tokenize_address(chunk, prefix, found);
    } else if chunk.contains('.') {
        push_parents(chunk, prefix, found);
    } else if (2..=MAX_WORD).contains(&chunk.len()) && !CALENDAR.contains(&chunk) {
        let has_digit = chunk.bytes().any(|byte| byte.is_ascii_digit());
        if !has_digit || chunk.starts_with("smtp") {
            found.push_pieces(&[prefix, chunk]);
        }
    }
}

/// An address as a whole, its local part and its host with parents; or a word of a display name.
fn tokenize_address(chunk: &str, prefix: &str, found: &mut Words) {
    let (local, has_at, host) = rpartition(chunk, "@");
    if !has_at {
        if chunk.contains('.') {
            push_parents(chunk, prefix, found);
        } else if (2..=MAX_WORD).contains(&chunk.len()) {
            found.push_pieces(&[prefix, chunk]);
        }
        return;
    }
    if chunk.len() > 2 * MAX_WORD {
        found.push_pieces(&[prefix, &make_skip_token(chunk)]);
    } else {
        found.push_pieces(&[prefix, chunk]);
        if !local.is_empty() {
            found.push_pieces(&[prefix, local, "@"]);
        }
    }
    push_parents(host, prefix, found);
}

/// Message identifiers: the shape of the part that the host made, and the host.
fn tokenize_identifier(chunk: &str, prefix: &str, found: &mut Words) {
    let (local, has_at, host) = rpartition(chunk, "@");
    found.push_pieces(&[prefix, &find_shape(if has_at { local } else { chunk })]);
    if has_at {
        push_parents(host, prefix, found);
    }
}

/// Runs of digits as 9, of letters as a, other characters as they are: 2002.a1b -> 9.a9a.
fn find_shape(text: &str) -> String {
    let mut shape = String::from("~");
    for one in first(text, SHAPED).chars() {
        let kind = match one {
            '0'..='9' => '9',
            'a'..='z' | 'A'..='Z' => 'a',
            _ if one.is_ascii() => one,
            _ => '?',
        };
        let is_first = shape.len() == 1;
        if (is_first || !shape.ends_with(kind)) && shape.len() <= MAX_SHAPE {
            shape.push(kind);
        }
    }
    shape
}

/// The time zone and the form of a date or time; day and hour say nothing of the sender.
fn tokenize_date(prefix: &str, text: &str, found: &mut Words) -> Read<()> {
    let pieces: Vec<&str> = split_space(text).take(12).collect();
    // After ten, Python takes all that is left for one piece.
    for piece in pieces.iter().take(if pieces.len() > 11 { 10 } else { 11 }) {
        let Some(digits) = piece.strip_prefix(['+', '-']) else { continue };
        if is_digit(digits)? {
            found.push_pieces(&[prefix, first(piece, MAX_ZONE)]);
            break;
        }
    }
    let joined = split_space(&lower(text)?).take(SHAPED).collect::<Vec<_>>().join("_");
    found.push_pieces(&[prefix, &find_shape(&joined)]);
    Ok(())
}

/// Words, pairs of words, and the marks of shouting: capitals, exclamation marks, long gaps.
fn tokenize_subject(text: &str, found: &mut Words) -> Read<()> {
    let mut words = Words::default();
    split_words(text, MAX_FIELD_WORDS, "", &mut words)?;
    words.iter().for_each(|word| found.push_pieces(&["subject:", word]));
    found.extend_pairs(&words, 0..words.len(), "subject:");
    if is_upper(text) {
        found.push("subject:#capitals");
    }
    for (mark, token) in [("!", "subject:!"), ("?", "subject:?"), ("   ", "subject:#gap")] {
        if text.contains(mark) {
            found.push(token);
        }
    }
    if has_zero_width(text) {
        found.push("subject:#zero-width");
    }
    Ok(())
}
