//! nbspam/tokens/armour.py: keys, signatures and files that are in a text as base64.

use crate::mail::transfer::is_white;
use crate::text::find_runs;
use std::borrow::Cow;
use std::ops::Range;

const LONG: usize = 60; // of a line; programs wrap base64 at 60 to 76 characters
const LEAST: usize = 120; // of a run, if no checksum ends it

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// The text without runs of base64; words between slashes have fewer capitals and digits.
pub fn remove_armour(text: &str) -> Cow<'_, str> {
    let data = text.as_bytes();
    let (mut kept, mut position) = (String::new(), 0);
    for (start, line) in find_runs(data, LONG, is_base64) {
        let is_begin = data[..start].last().is_none_or(|byte| is_white(byte) || b">|,".contains(byte));
        if !is_begin || start < position {
            continue;
        }
        let Some((end, has_checksum)) = find_end(data, start + line.len()) else { continue };
        let run = &data[start..end];
        let count = |is_so: fn(&u8) -> bool| run.iter().filter(|byte| is_so(byte)).count();
        let is_long = has_checksum || run.len() >= LEAST;
        if is_long
            && 4 * count(u8::is_ascii_uppercase) >= run.len()
            && 16 * count(u8::is_ascii_digit) >= run.len()
        {
            kept.push_str(&text[position..start]);
            kept.push(' ');
        } else {
            kept.push_str(&text[position..end]);
        }
        position = end;
    }
    if position == 0 {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(kept + &text[position..])
    }
}

/// The end of a run with a long line that ends at `line`, and whether a checksum of OpenPGP is there.
fn find_end(data: &[u8], line: usize) -> Option<(usize, bool)> {
    let is_end = |end: &usize| data.get(*end).is_none_or(|byte| is_white(byte) || *byte == b')');
    let mut ends = vec![line];
    while let Some(end) =
        ends.last().and_then(|end| skip_letters(data, skip_gap(data, *end)?, LONG..usize::MAX))
    {
        ends.push(end);
    }
    for end in ends.into_iter().rev() {
        let padded = skip_pads(data, end);
        let short = skip_gap(data, padded).and_then(|start| skip_letters(data, start, 1..LONG));
        let short = short.map(|short| skip_pads(data, short)).filter(|end| data[*end - 1] == b'=');
        for place in short.into_iter().chain([padded]) {
            if let Some(end) = skip_checksum(data, place).filter(is_end) {
                return Some((end, true));
            }
            if is_end(&place) {
                return Some((place, false));
            }
        }
    }
    None
}

/// After a line end or blank, also quoted.
fn skip_gap(data: &[u8], start: usize) -> Option<usize> {
    data.get(start).filter(|byte| is_white(byte))?;
    Some(start + data[start..].iter().take_while(|byte| is_white(byte) || b">|".contains(byte)).count())
}

fn skip_letters(data: &[u8], start: usize, sizes: Range<usize>) -> Option<usize> {
    let size = data[start..].iter().take_while(|byte| is_base64(byte)).count();
    sizes.contains(&size).then_some(start + size)
}

fn skip_pads(data: &[u8], start: usize) -> usize {
    start + data[start..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// After `=AbC1`, perhaps after a short line.
fn skip_checksum(data: &[u8], start: usize) -> Option<usize> {
    let gap = skip_gap(data, start)?;
    let mark = skip_letters(data, gap, 1..LONG).and_then(|end| skip_gap(data, end)).unwrap_or(gap);
    let [b'=', letters @ ..] = data.get(mark..mark + 5)? else { return None };
    letters.iter().all(is_base64).then_some(mark + 5)
}
