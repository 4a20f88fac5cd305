//! Methods of `str` in Python, whose lengths and slices count characters.

use crate::mail::message::Read;
use crate::python::ask;
use crate::tokens::characters::is_known;
use std::borrow::Cow;

/// White space of Python's `str.split` and `str.strip`.
pub fn is_space(character: char) -> bool {
    matches!(character, '\t'..='\r' | '\x1c'..=' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// `text.split()`
pub fn split_space(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|piece| !piece.is_empty())
}

/// The runs of bytes that are kept; those beyond ASCII are all kept, or none is.
pub fn split_kept(text: &str, is_kept: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, begun) = rest.split_at_checked(rest.bytes().position(&is_kept)?)?;
        let size = begun.bytes().position(|byte| !is_kept(byte)).unwrap_or(begun.len());
        let (piece, after) = begun.split_at_checked(size)?;
        rest = after;
        Some(piece)
    })
}

/// Start and bytes of the runs of at least `least` bytes that are kept; most other bytes are not looked at.
pub fn find_runs(
    data: &[u8],
    least: usize,
    is_kept: impl Fn(&u8) -> bool,
) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = data;
    std::iter::from_fn(move || {
        while let Some(other) = rest.get(..least)?.iter().rposition(|byte| !is_kept(byte)) {
            rest = rest.get(other + 1..)?;
        }
        let size = rest.iter().position(|byte| !is_kept(byte)).unwrap_or(rest.len());
        let start = data.len() - rest.len();
        let (run, after) = rest.split_at_checked(size)?;
        rest = after;
        Some((start, run))
    })
}

/// `"".join(text.split())`
pub fn without_space(text: &str) -> Cow<'_, str> {
    if text.contains(is_space) {
        Cow::Owned(text.chars().filter(|character| !is_space(*character)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// `len(text)`
pub fn count(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

/// True if a text has more characters than `most`.
pub fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && count(text) > most
}

/// `text[:most]`
pub fn first(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// `text[-most:]`
pub fn last(text: &str, most: usize) -> &str {
    text.char_indices().rev().take(most).last().and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}

/// `text.partition(mark)`: before, mark or nothing, after.
pub fn partition<'a>(text: &'a str, mark: &str) -> (&'a str, bool, &'a str) {
    match text.split_once(mark) {
        Some((before, after)) => (before, true, after),
        None => (text, false, ""),
    }
}

/// `text.rpartition(mark)`: before, mark or nothing, after.
pub fn rpartition<'a>(text: &'a str, mark: &str) -> (&'a str, bool, &'a str) {
    match text.rsplit_once(mark) {
        Some((before, after)) => (before, true, after),
        None => ("", false, text),
    }
}

/// `text.lower()`
pub fn lower(text: &str) -> Read<Cow<'_, str>> {
    if !text.is_ascii() {
        return Ok(Cow::Owned(if is_known(text) { text.to_lowercase() } else { ask(text, "lower")? }));
    }
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    Ok(if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) })
}

/// `text.isdigit()`
pub fn is_digit(text: &str) -> Read<bool> {
    if text.is_ascii() {
        return Ok(is_ascii_digit(text));
    }
    ask(text, "isdigit")
}

/// `text.isdigit()` of ASCII.
pub fn is_ascii_digit(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
