//! nbspam/mail/html/entities.py: character references of HTML decoded as browsers do.

use crate::mail::message::Read;
use crate::python::call;
use crate::tokens::text::{first, partition};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

const COMMON: [(&str, char); 8] = [
    ("nbsp", ' '),
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("copy", '©'),
    ("reg", '®'),
];
const WINDOWS_C1: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
const MAX_NAME: usize = 32;
const MAX_NAMES: usize = 1_000; // remembered

/// What the longest name that a text begins with means, and its length.
type Meaning = (String, usize);

thread_local! {
    static NAMES: RefCell<HashMap<String, Meaning>> = RefCell::new(HashMap::new());
}

/// The meaning of a name by Python's table; ("", 0) if the text begins with none.
fn find_name(text: &str) -> Read<Meaning> {
    if let Some(found) = NAMES.with(|names| names.borrow().get(text).cloned()) {
        return Ok(found);
    }
    let found: Meaning = call("nbspam.mail.html.entities", "find_name", (text,))?;
    NAMES.with(|names| {
        let mut names = names.borrow_mut();
        if names.len() >= MAX_NAMES {
            names.clear();
        }
        names.insert(text.to_string(), found.clone());
    });
    Ok(found)
}

/// The text with its character references replaced.
pub fn decode_references(text: &str, in_attribute: bool) -> Read<Cow<'_, str>> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let text = text.replace("&nbsp;", " ");
    let mut pieces = text.split('&');
    let mut found = String::with_capacity(text.len());
    found.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        decode_piece(piece, in_attribute, &mut found)?;
    }
    Ok(Cow::Owned(found))
}

/// piece : what follows `&`
fn decode_piece(piece: &str, in_attribute: bool, found: &mut String) -> Read<()> {
    let (name, is_ended, tail) = partition(piece, ";");
    let common = COMMON.iter().find(|(known, _)| is_ended && *known == name);
    if let Some((_, letter)) = common {
        found.push(*letter);
        found.push_str(tail);
    } else if piece.starts_with('#') {
        decode_numbered(piece, found);
    } else if piece.is_empty() {
        found.push('&');
    } else {
        decode_named(piece, in_attribute, found)?;
    }
    Ok(())
}

fn decode_numbered(piece: &str, found: &mut String) {
    let is_hex = matches!(piece.as_bytes().get(1), Some(b'x' | b'X'));
    let (base, start) = if is_hex { (16, 2) } else { (10, 1) };
    let rest = piece.get(start..).unwrap_or_default();
    let tail = rest.trim_start_matches(|character: char| character.is_digit(base));
    let digits = rest.get(..rest.len() - tail.len()).unwrap_or_default();
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
    match code {
        0x80..=0x9f => WINDOWS_C1.chars().nth(code as usize - 0x80).unwrap_or('\u{fffd}'),
        0xa0 => ' ',
        0 => '\u{fffd}',
        _ => char::from_u32(code).unwrap_or('\u{fffd}'),
    }
}

fn decode_named(piece: &str, in_attribute: bool, found: &mut String) -> Read<()> {
    let tail = piece.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
    let length = piece.len() - tail.len() + usize::from(tail.starts_with(';'));
    let name = piece.get(..length).unwrap_or_default();
    let is_kept = length < 2 || (in_attribute && tail.starts_with('='));
    let (letters, known) = if is_kept { (String::new(), 0) } else { find_name(first(name, MAX_NAME))? };
    if letters.is_empty() || (in_attribute && known < length) {
        found.push('&');
        found.push_str(piece);
    } else {
        found.push_str(&letters);
        found.push_str(piece.get(known..).unwrap_or_default());
    }
    Ok(())
}
