//! nbspam/tokens/characters.py: what a character beyond ASCII becomes and is, from a table that Python has made.

use super::bag::EDGE;
use std::borrow::Cow;
use std::sync::LazyLock;

const TABLE: &str = include_str!("characters.txt");
const FIRST: u32 = 0x80;
const BEYOND_LETTERS: u32 = 0x31350; // no letter of Unicode 14 is from here on, and no mark except in TAGS
const TAGS: std::ops::Range<u32> = 0xE0000..0xE1000;
// Bits of what a character is, as the methods of `str` in Python tell; none if Unicode 14 does not have it.
const KNOWN: u8 = 1;
const ALNUM: u8 = 2;
const ALPHA: u8 = 4;
const UPPER: u8 = 8;
const LOWER: u8 = 16; // or of title case: such a character is in no text of capitals

/// Characters one after the other that are alike.
struct Run {
    end: u32,
    kinds: u8,
    folded: &'static str,
}

static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let mut end = FIRST;
    let words = TABLE.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let runs = words.filter_map(|word| {
        let (number, text) = word.split_once(':')?;
        let (kinds, folded) = text.split_at_checked(1)?;
        end += number.parse::<u32>().ok()?;
        Some(Run { end, kinds: u8::from_str_radix(kinds, 32).ok()?, folded })
    });
    runs.collect()
});

/// The number of the run of each character from FIRST to BEYOND_LETTERS.
static NUMBERS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut numbers = Vec::new();
    for (number, run) in RUNS.iter().enumerate() {
        numbers.resize((run.end.min(BEYOND_LETTERS) - FIRST) as usize, number as u16);
    }
    numbers
});

/// The run of a character beyond ASCII.
fn find_run(character: char) -> Option<&'static Run> {
    let code = character as u32;
    match NUMBERS.get((code - FIRST) as usize) {
        Some(number) => RUNS.get(usize::from(*number)),
        None => RUNS.get(RUNS.partition_point(|run| run.end <= code)),
    }
}

/// Add what a character becomes in the small alphabet of words.
pub fn fold_into(character: char, into: &mut String) {
    let code = character as u32;
    if character.is_ascii() {
        into.push(character);
    } else if code >= BEYOND_LETTERS && !TAGS.contains(&code) {
        into.push(' ');
    } else if let Some(run) = find_run(character) {
        into.extend(run.folded.chars().map(|mark| match mark {
            '␣' => ' ',
            '¦' => EDGE,
            '∘' => character,
            _ => mark,
        }));
    }
}

#[inline]
fn kinds_of(character: char) -> u8 {
    if !character.is_ascii() {
        return find_run(character).map_or(0, |run| run.kinds);
    }
    let bit = |kind, is_so| if is_so { kind } else { 0 };
    KNOWN
        | bit(ALNUM, character.is_ascii_alphanumeric())
        | bit(ALPHA, character.is_ascii_alphabetic())
        | bit(UPPER, character.is_ascii_uppercase())
        | bit(LOWER, character.is_ascii_lowercase())
}

fn are_all(text: &str, kind: u8) -> bool {
    !text.is_empty() && text.chars().all(|character| kinds_of(character) & kind != 0)
}

/// `str.isalnum` of one character.
pub fn is_alnum(character: char) -> bool {
    kinds_of(character) & ALNUM != 0
}

/// `str.isalnum` of a text.
pub fn are_alnum(text: &str) -> bool {
    are_all(text, ALNUM)
}

/// `pin(text).isalpha()`
pub fn is_alpha(text: &str) -> bool {
    are_all(text, ALPHA)
}

/// `pin(text).isupper()`
pub fn is_upper(text: &str) -> bool {
    let kinds = |text: &str| text.chars().fold(0, |found, character| found | kinds_of(character));
    kinds(text) & (UPPER | LOWER) == UPPER
}

/// True if Unicode 14 has all characters of a text.
pub fn is_known(text: &str) -> bool {
    text.is_ascii() || text.chars().all(|character| kinds_of(character) & KNOWN != 0)
}

/// nbspam.mail.message.pin
pub fn pin(text: &str) -> Cow<'_, str> {
    if is_known(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|one| if kinds_of(one) & KNOWN != 0 { one } else { '\u{ffff}' }).collect())
}
