//! nbspam/tokens/characters.py: what Python says of a character beyond ASCII, asked once for each.

use crate::mail::message::Read;
use crate::python::{find_kinds, fold_character, Kinds};
use std::borrow::Cow;
use std::cell::RefCell;

const PAGE: usize = 256;
const BEYOND_LETTERS: u32 = 0x31350; // no letter of Unicode 14 is from here on, and no mark except in TAGS
const TAGS: std::ops::Range<u32> = 0xE0000..0xE1000;

/// What is known of a character so far.
#[derive(Clone, Default)]
struct Meaning {
    folded: Option<Box<str>>,
    kinds: Option<Kinds>,
}

thread_local! {
    // By the upper bits of the code point.  Unicode itself bounds it: 12 MB if each of its characters has come.
    static PAGES: RefCell<Vec<Vec<Meaning>>> = const { RefCell::new(Vec::new()) };
}

/// Asks what is known of a character; None if it has not come yet.
fn recall<T>(character: char, ask: impl FnOnce(&Meaning) -> Option<T>) -> Option<T> {
    let code = character as usize;
    PAGES.with(|pages| ask(pages.borrow().get(code / PAGE)?.get(code % PAGE)?))
}

fn remember(character: char, note: impl FnOnce(&mut Meaning)) {
    let code = character as usize;
    PAGES.with(|pages| {
        let mut pages = pages.borrow_mut();
        if pages.len() <= code / PAGE {
            pages.resize(code / PAGE + 1, Vec::new());
        }
        if let Some(page) = pages.get_mut(code / PAGE) {
            page.resize(PAGE, Meaning::default());
            page.get_mut(code % PAGE).map(note);
        }
    });
}

/// Add what a character becomes in the small alphabet of words.
pub fn fold_into(character: char, into: &mut String) -> Read<()> {
    let code = character as u32;
    if character.is_ascii() {
        into.push(character);
        return Ok(());
    }
    if code >= BEYOND_LETTERS && !TAGS.contains(&code) {
        into.push(' ');
        return Ok(());
    }
    let is_here = recall(character, |meaning| meaning.folded.as_ref().map(|folded| into.push_str(folded)));
    if is_here.is_none() {
        let folded = fold_character(character)?;
        into.push_str(&folded);
        remember(character, |meaning| meaning.folded = Some(folded.into()));
    }
    Ok(())
}

/// The kinds of a character; those that Unicode 14 does not have are of no kind.
#[inline]
pub fn kinds_of(character: char) -> Read<Kinds> {
    if character.is_ascii() {
        return Ok(Kinds {
            is_known: true,
            is_alnum: character.is_ascii_alphanumeric(),
            is_alpha: character.is_ascii_alphabetic(),
            is_upper: character.is_ascii_uppercase(),
            is_lower: character.is_ascii_lowercase(),
        });
    }
    kinds_beyond_ascii(character)
}

fn kinds_beyond_ascii(character: char) -> Read<Kinds> {
    if let Some(kinds) = recall(character, |meaning| meaning.kinds) {
        return Ok(kinds);
    }
    let kinds = find_kinds(character)?;
    remember(character, |meaning| meaning.kinds = Some(kinds));
    Ok(kinds)
}

/// `str.isalnum` of one character.
pub fn is_alnum(character: char) -> Read<bool> {
    Ok(kinds_of(character)?.is_alnum)
}

/// `str.isalnum` of a text.
pub fn are_alnum(text: &str) -> Read<bool> {
    are_all(text, |kinds| kinds.is_alnum)
}

/// `pin(text).isalpha()`
pub fn is_alpha(text: &str) -> Read<bool> {
    are_all(text, |kinds| kinds.is_alpha)
}

fn are_all(text: &str, is_so: impl Fn(Kinds) -> bool) -> Read<bool> {
    for character in text.chars() {
        if !is_so(kinds_of(character)?) {
            return Ok(false);
        }
    }
    Ok(!text.is_empty())
}

/// `pin(text).isupper()`
pub fn is_upper(text: &str) -> Read<bool> {
    let mut found = false;
    for character in text.chars() {
        let kinds = kinds_of(character)?;
        if kinds.is_lower {
            return Ok(false);
        }
        found |= kinds.is_upper;
    }
    Ok(found)
}

/// nbspam.mail.message.pin
pub fn pin(text: &str) -> Read<Cow<'_, str>> {
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text));
    }
    let show = |one| Ok(if kinds_of(one)?.is_known { one } else { '\u{ffff}' });
    Ok(Cow::Owned(text.chars().map(show).collect::<Read<String>>()?))
}
