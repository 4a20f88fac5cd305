//! nbspam/tokens/unicode_words.py: text beyond ASCII becomes the small alphabet of words.

use super::bag::{EDGE, INNER};
use super::characters::{fold_into, is_alnum};
use crate::mail::message::Read;
use crate::python::call;

const TURNED_ROUND: char = '\u{202e}'; // what is between is shown from right to left (UAX #9, 2.2)

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// The text in the small alphabet.
pub fn fold(text: &str) -> Read<String> {
    if text.contains(TURNED_ROUND) {
        return call("nbspam.tokens.unicode_words", "fold", (text,));
    }
    let mut found = String::with_capacity(text.len());
    for character in text.chars() {
        fold_into(character, &mut found);
    }
    if found.contains(EDGE) {
        found = found.replace("\u{e000}\u{e000}", INNER).replace(EDGE, " ");
    }
    Ok(found)
}

/// True if an invisible character is inside of a word that needs none, or one turns the text round.
pub fn splits_words(text: &str) -> bool {
    if text.contains(TURNED_ROUND) {
        return true;
    }
    let mut before = None;
    let mut is_split = false;
    for character in text.chars() {
        if is_invisible(character) {
            is_split = true;
            continue;
        }
        if let (true, Some(first)) = (is_split, before) {
            if needs_none(first) && needs_none(character) {
                return true;
            }
        }
        before = Some(character);
        is_split = false;
    }
    false
}

fn needs_none(character: char) -> bool {
    !matches!(character, '\u{590}'..='\u{18ff}') && is_alnum(character)
}
