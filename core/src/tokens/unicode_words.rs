//! nbspam/tokens/unicode_words.py: text beyond ASCII becomes the small alphabet of words.

use super::bag::{EDGE, INNER};
use super::characters::{fold_into, is_alnum};
use crate::mail::message::Read;
use crate::text::partition;
use std::borrow::Cow;

const TURNED_ROUND: char = '\u{202e}'; // what is between is shown from right to left (UAX #9, 2.2)
const TURNED_BACK: &str = "\u{202c}";

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// Hebrew, Arabic and the like.
fn is_leftward(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

/// The text in the small alphabet.
pub fn fold(text: &str) -> Read<String> {
    let text = turn(text);
    let mut found = String::with_capacity(text.len());
    for character in text.chars() {
        fold_into(character, &mut found)?;
    }
    if found.contains(EDGE) {
        found = found.replace("\u{e000}\u{e000}", INNER).replace(EDGE, " ");
    }
    Ok(found)
}

/// The text with what U+202E turns round in the order in which a person reads it.
fn turn(text: &str) -> Cow<'_, str> {
    if !text.contains(TURNED_ROUND) {
        return Cow::Borrowed(text);
    }
    let joined = text.replace("\u{202c}\u{202e}", ""); // nothing is between them: one run
    let lines: Vec<String> = joined.split('\n').map(read_turned).collect();
    Cow::Owned(lines.join("\n"))
}

fn read_turned(line: &str) -> String {
    let mut runs = line.split(TURNED_ROUND);
    let mut found = runs.next().unwrap_or("").to_string();
    for run in runs {
        let (turned, _, rest) = partition(run, TURNED_BACK);
        if turned.contains(is_leftward) {
            found.push_str(turned);
        } else {
            found.extend(turned.chars().rev());
        }
        found.push_str(rest);
    }
    found
}

/// True if an invisible character is inside of a word that needs none, or one turns the text round.
pub fn splits_words(text: &str) -> Read<bool> {
    if text.contains(TURNED_ROUND) {
        return Ok(true);
    }
    let mut before = None;
    let mut is_split = false;
    for character in text.chars() {
        if is_invisible(character) {
            is_split = true;
            continue;
        }
        if let (true, Some(first)) = (is_split, before) {
            if needs_none(first)? && needs_none(character)? {
                return Ok(true);
            }
        }
        before = Some(character);
        is_split = false;
    }
    Ok(false)
}

fn needs_none(character: char) -> Read<bool> {
    Ok(!matches!(character, '\u{590}'..='\u{18ff}') && is_alnum(character)?)
}
