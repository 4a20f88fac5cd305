//! nbspam/tokens/characters.py: what Python says of a character beyond ASCII, asked once for each.

use crate::mail::message::Read;
use crate::python::call;
use std::borrow::Cow;
use std::cell::RefCell;

const PAGE: usize = 256;
const BEYOND_LETTERS: u32 = 0x31350; // no letter of Unicode 14 is from here on, and no mark except in TAGS
const TAGS: std::ops::Range<u32> = 0xE0000..0xE1000;

/// Kinds of a character, as the methods of `str` in Python tell them; none if Unicode 14 does not have it.
#[derive(Clone, Copy)]
pub struct Kinds {
    is_known: bool,
    is_alnum: bool,
    is_alpha: bool,
    is_upper: bool,
    is_lower: bool, // or of title case: such a character is in no text of capitals
}

/// What a character becomes in the small alphabet of words, and its kinds.
#[derive(Clone)]
struct Meaning {
    folded: Box<str>,
    kinds: Kinds,
}

thread_local! {
    // By the upper bits of the code point.  Unicode itself bounds it: 12 MB if each of its characters has come.
    static PAGES: RefCell<Vec<Vec<Option<Meaning>>>> = const { RefCell::new(Vec::new()) };
}

/// What some work makes of the meaning of a character beyond ASCII.
fn with_meaning<T>(character: char, mut work: impl FnMut(&Meaning) -> T) -> Read<T> {
    let (page, place) = (character as usize / PAGE, character as usize % PAGE);
    let found = PAGES.with(|pages| pages.borrow().get(page)?.get(place)?.as_ref().map(&mut work));
    if let Some(found) = found {
        return Ok(found);
    }
    let meaning = ask_meaning(character)?;
    let found = work(&meaning);
    PAGES.with(|pages| {
        let mut pages = pages.borrow_mut();
        if pages.len() <= page {
            pages.resize(page + 1, Vec::new());
        }
        pages[page].resize(PAGE, None);
        pages[page][place] = Some(meaning);
    });
    Ok(found)
}

fn ask_meaning(character: char) -> Read<Meaning> {
    let (folded, is_known, is_alnum, is_alpha, is_upper, is_lower): (String, _, _, _, _, _) =
        call("nbspam.tokens.unicode_words", "describe_character", (character,))?;
    Ok(Meaning { folded: folded.into(), kinds: Kinds { is_known, is_alnum, is_alpha, is_upper, is_lower } })
}

/// Add what a character becomes in the small alphabet of words.
pub fn fold_into(character: char, into: &mut String) -> Read<()> {
    let code = character as u32;
    if character.is_ascii() {
        into.push(character);
    } else if code >= BEYOND_LETTERS && !TAGS.contains(&code) {
        into.push(' ');
    } else {
        with_meaning(character, |meaning| into.push_str(&meaning.folded))?;
    }
    Ok(())
}

#[inline]
fn kinds_of(character: char) -> Read<Kinds> {
    if !character.is_ascii() {
        return with_meaning(character, |meaning| meaning.kinds);
    }
    Ok(Kinds {
        is_known: true,
        is_alnum: character.is_ascii_alphanumeric(),
        is_alpha: character.is_ascii_alphabetic(),
        is_upper: character.is_ascii_uppercase(),
        is_lower: character.is_ascii_lowercase(),
    })
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
