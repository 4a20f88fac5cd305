//! nbspam/mail/html/entities.py: character references of HTML decoded as browsers do.

use crate::mail::charset::windows_1252;
use crate::mail::message::Read;
use crate::python::run;
use crate::text::first;
use memchr::memchr;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

#[rustfmt::skip]
const COMMON: [(&str, &str); 8] = [
    ("nbsp", " "), ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("copy", "©"), ("reg", "®"),
];
const MAX_NAME: usize = 32;

type Names = HashMap<String, String>;

/// All names, from the standard library of Python when the first rare one comes.
fn names() -> Read<&'static Names> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    if let Some(names) = NAMES.get() {
        return Ok(names);
    }
    let found = run(|py| py.import("html.entities")?.getattr("html5")?.extract())?;
    Ok(NAMES.get_or_init(|| found))
}

/// What the longest name that a text of ASCII begins with means, and its length.
fn find_name(text: &str) -> Read<Option<(&'static str, usize)>> {
    let names = names()?;
    let lengths = (2..=text.len()).rev();
    Ok(lengths.filter_map(|length| Some((names.get(text.get(..length)?)?.as_str(), length))).next())
}

/// The text with its character references replaced; a hard space becomes a space.
///
/// in_attribute : whether a name without semicolon is kept before `=`, a letter or a digit
pub fn decode_references(text: &str, in_attribute: bool) -> Read<Cow<'_, str>> {
    let Some(start) = memchr(b'&', text.as_bytes()) else { return Ok(Cow::Borrowed(text)) };
    let (before, after) = text.split_at(start);
    let mut found = String::with_capacity(text.len());
    found.push_str(before);
    for piece in after.split('&').skip(1) {
        decode_piece(piece, in_attribute, &mut found)?;
    }
    Ok(Cow::Owned(found))
}

/// piece : what is between a `&` and the next
fn decode_piece(piece: &str, in_attribute: bool, found: &mut String) -> Read<()> {
    if piece.starts_with('#') {
        decode_numbered(piece, found);
        return Ok(());
    }
    let tail = piece.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
    let letters = piece.strip_suffix(tail).unwrap_or(piece);
    if let Some(after) = tail.strip_prefix(';') {
        if let Some((_, meaning)) = COMMON.iter().find(|(name, _)| *name == letters) {
            found.push_str(meaning);
            found.push_str(after);
            return Ok(());
        }
    }
    let end = letters.len() + usize::from(tail.starts_with(';'));
    let name = piece.get(..end).unwrap_or(piece);
    let is_kept = name.len() < 2 || (in_attribute && tail.starts_with('='));
    let meaning = if is_kept { None } else { find_name(first(name, MAX_NAME))? };
    match meaning {
        Some((meaning, length)) if !in_attribute || length == name.len() => {
            found.push_str(&meaning.replace('\u{a0}', " "));
            found.push_str(piece.get(length..).unwrap_or_default());
        }
        _ => {
            found.push('&');
            found.push_str(piece);
        }
    }
    Ok(())
}

fn decode_numbered(piece: &str, found: &mut String) {
    let is_hexadecimal = matches!(piece.as_bytes().get(1), Some(b'x' | b'X'));
    let (base, start) = if is_hexadecimal { (16, 2) } else { (10, 1) };
    let written = piece.get(start..).unwrap_or_default();
    let tail = written.trim_start_matches(|character: char| character.is_digit(base));
    let digits = written.strip_suffix(tail).unwrap_or(written);
    if digits.is_empty() {
        found.push('&');
        found.push_str(piece);
        return;
    }
    found.push(find_letter(digits.trim_start_matches('0'), base));
    found.push_str(tail.strip_prefix(';').unwrap_or(tail));
}

fn find_letter(digits: &str, base: u32) -> char {
    let code = if digits.len() < 8 { u32::from_str_radix(digits, base).unwrap_or(0) } else { 0 };
    let letter = match code {
        0 => None,
        0x80..=0x9f => Some(windows_1252(code as u8)),
        0xa0 => Some(' '), // a hard space looks like one
        _ => char::from_u32(code),
    };
    letter.unwrap_or('\u{fffd}')
}
