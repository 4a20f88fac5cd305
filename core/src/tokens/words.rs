//! nbspam/tokens/words.py: running text becomes words.

use super::bag::{Words, INNER};
use super::characters::are_alnum;
use super::unicode_words::{fold, splits_words};
use crate::mail::message::Read;
use crate::text::{count, is_ascii_digit, is_longer, rpartition};

pub const MAX_WORD: usize = 40;
const MIN_SPACED: usize = 3;
const MAX_LEVELS: usize = 6;
pub const CURRENCIES: &str = "€£¥￥₽₩₹₺₴₸₪₫₱₦₡฿৳";

/// Byte -> lower-case letter, digit, mark of a word, byte of UTF-8 beyond ASCII, or else a space.
pub const fn alphabet(marks: &[u8]) -> [u8; 256] {
    let mut table = [b' '; 256];
    let mut byte = 0;
    while byte < 256 {
        let one = byte as u8;
        if one.is_ascii_alphanumeric() || byte >= 128 {
            table[byte] = one.to_ascii_lowercase();
        }
        byte += 1;
    }
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = marks[at];
        at += 1;
    }
    table
}

const ALPHABET: [u8; 256] = alphabet(b"$%'-.,_@");

fn is_joiner(character: char) -> bool {
    matches!(character, '\'' | '-' | '.' | ',' | '_' | '@')
}

/// The byte of a table that a byte becomes.
pub fn look_up(table: &[u8; 256], byte: u8) -> u8 {
    table.get(usize::from(byte)).copied().unwrap_or(b' ')
}

/// The first `limit` words of a text.
pub fn split_words(text: &str, limit: usize) -> Read<Words> {
    let found = if text.is_ascii() { split_chunks(text, limit)? } else { split_chunks(&fold(text)?, limit)? };
    finish(found, limit)
}

/// The words of the first `limit` chunks, still with single and long ones.
fn split_chunks(text: &str, limit: usize) -> Read<Words> {
    let mut found = Words::default();
    let mut chunk = String::new();
    let mut n_chunks = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while n_chunks < limit && at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or(&[]);
        at += rest.iter().position(|byte| look_up(&ALPHABET, *byte) != b' ').unwrap_or(rest.len());
        let rest = bytes.get(at..).unwrap_or(&[]);
        let size = rest.iter().position(|byte| look_up(&ALPHABET, *byte) == b' ').unwrap_or(rest.len());
        chunk.clear();
        chunk.push_str(text.get(at..at + size).unwrap_or(""));
        chunk.make_ascii_lowercase();
        at += size;
        if at < bytes.len() {
            // The two commonest ends of a word.
            for end in ['.', ','] {
                if chunk.ends_with(end) {
                    chunk.pop();
                }
            }
        }
        if !chunk.is_empty() {
            n_chunks += 1;
            split_chunk(&chunk, &mut found)?;
        }
    }
    Ok(found)
}

fn split_chunk(chunk: &str, found: &mut Words) -> Read<()> {
    if chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        found.push(chunk);
        return Ok(());
    }
    if !chunk.is_ascii() && are_alnum(chunk)? {
        found.push(chunk);
        return Ok(());
    }
    split_irregular(chunk, found)
}

/// The first `limit` words, with a long run as a token of its length and a run of single letters as a word.
fn finish(found: Words, limit: usize) -> Read<Words> {
    let (mut longest, mut has_single) = (0, false);
    for word in found.iter() {
        longest = longest.max(word.len());
        has_single |= word.len() == 1 || (word.len() <= 4 && count(word) == 1);
    }
    let mut found = found;
    if longest > MAX_WORD {
        found = shorten_runs(&found)?;
    }
    if has_single {
        found = drop_single(&found)?;
    }
    found.truncate(limit);
    Ok(found)
}

fn shorten_runs(found: &Words) -> Read<Words> {
    let mut kept = Words::default();
    for word in found.iter() {
        if is_longer(word, MAX_WORD) && are_alnum(word)? {
            kept.push(&make_skip_token(word));
        } else {
            kept.push(word);
        }
    }
    Ok(kept)
}

fn drop_single(found: &Words) -> Read<Words> {
    let is_single: Vec<bool> = found.iter().map(|word| word.len() <= 4 && count(word) == 1).collect();
    let mut kept = Words::default();
    if !is_single.windows(MIN_SPACED).any(|some| some.iter().all(|one| *one)) {
        for (word, single) in found.iter().zip(is_single) {
            if !single || !word.is_ascii() {
                kept.push(word);
            }
        }
        return Ok(kept);
    }
    let mut run = Vec::new();
    for (word, single) in found.iter().zip(is_single) {
        if single {
            run.push(word);
        } else {
            spell(&run, &mut kept)?;
            run.clear();
            kept.push(word);
        }
    }
    spell(&run, &mut kept)?;
    Ok(kept)
}

/// The pictures in a run of single characters, and the word that its letters spell.
fn spell(run: &[&str], kept: &mut Words) -> Read<()> {
    let mut letters = Vec::new();
    for one in run {
        if are_alnum(one)? {
            letters.push(*one);
        } else if !one.is_ascii() {
            kept.push(one);
        }
    }
    let word = letters.concat();
    if letters.len() < MIN_SPACED || is_ascii_digit(&word) {
        letters.iter().filter(|letter| !letter.is_ascii()).for_each(|letter| kept.push(letter));
    } else if letters.len() <= MAX_WORD {
        kept.push_pieces(&["spaced=", &word]);
    } else {
        kept.push(&make_skip_token(&word));
    }
    Ok(())
}

/// The token of a run too long to be a word: its first character and its length in tens.
pub fn make_skip_token(chunk: &str) -> String {
    let first = chunk.chars().next().unwrap_or(' ');
    format!("skip={first}:{}", count(chunk).min(990) / 10 * 10)
}

/// A word, or the token of a run too long to be one.
fn push_short(word: &str, most: usize, found: &mut Words) {
    if is_longer(word, most) {
        found.push(&make_skip_token(word));
    } else {
        found.push(word);
    }
}

/// The words of a chunk that has another character in it than letters and digits.
fn split_irregular(chunk: &str, found: &mut Words) -> Read<()> {
    if chunk.contains(INNER) {
        let pieces: Vec<&str> = chunk.split(INNER).collect();
        for pair in pieces.windows(2) {
            found.push_pieces(pair);
        }
        return Ok(());
    }
    let chunk = chunk.trim_matches(is_joiner);
    if chunk.is_empty() {
        return Ok(());
    }
    if is_numeric(chunk) {
        split_number(chunk, found);
    } else if chunk.contains('@') {
        split_address(chunk, found);
    } else if chunk.contains(['.', ',']) || chunk.contains("--") {
        split_compound(chunk, found);
    } else if !is_longer(chunk, MAX_WORD) || are_alnum(chunk)? {
        found.push(chunk);
    } else {
        split_pieces(&chunk.replace(['-', '_', '\''], " "), found);
    }
    Ok(())
}

/// True for a number, price, share or version: only digits, `$ . , % -` and currency signs.
pub fn is_numeric(chunk: &str) -> bool {
    chunk.chars().all(|one| {
        one.is_ascii_digit()
            || matches!(one, '$' | '.' | ',' | '%' | '-')
            || (!one.is_ascii() && CURRENCIES.contains(one))
    })
}

fn split_number(chunk: &str, found: &mut Words) {
    if is_longer(chunk, MAX_WORD) {
        found.push(&make_skip_token(chunk));
    } else if is_four_numbers(chunk) {
        push_parents(chunk, "", found);
    } else {
        found.push(chunk);
    }
}

/// True for digits and three full stops, in any order.
pub fn is_four_numbers(text: &str) -> bool {
    let stops = text.bytes().filter(|byte| *byte == b'.').count();
    stops == 3 && text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// someone@host.example: the whole, then the host with its parents.
fn split_address(chunk: &str, found: &mut Words) {
    let (local, _, host) = rpartition(chunk, "@");
    if local.contains('@') {
        found.push(&make_skip_token(chunk));
    } else {
        push_short(chunk, 2 * MAX_WORD, found);
    }
    push_parents(host.trim_matches(is_joiner), "", found);
}

/// Words run together by full stops or commas; a dotted name is also kept whole, with its parents.
fn split_compound(chunk: &str, found: &mut Words) {
    if !chunk.contains(',') && !chunk.contains("--") && !is_longer(chunk, MAX_WORD) {
        if chunk.contains("..") {
            found.push(chunk);
        } else {
            let mut names = list_parents(chunk);
            names.pop();
            names.iter().for_each(|name| found.push(name));
        }
    }
    split_pieces(&chunk.replace([',', '.'], " ").replace("--", " "), found);
}

/// Words between spaces, of two characters or more.
fn split_pieces(spaced: &str, found: &mut Words) {
    for piece in spaced.split(' ').map(|piece| piece.trim_matches(is_joiner)) {
        if is_longer(piece, 1) {
            push_short(piece, MAX_WORD, found);
        }
    }
}

/// A host name or IPv4 address with its parents: a.b.example -> itself, b.example, example.
pub fn list_parents(host: &str) -> Vec<&str> {
    if !host.contains('.') {
        return if host.is_empty() || is_longer(host, MAX_WORD) { Vec::new() } else { vec![host] };
    }
    if is_numeric(host) {
        return list_networks(host);
    }
    let mut names = Vec::with_capacity(MAX_LEVELS);
    let mut rest = Some(host);
    while let (Some(before), true) = (rest, names.len() < MAX_LEVELS) {
        let dot = before.rfind('.');
        names.push(dot.map_or(host, |at| host.get(at + 1..).unwrap_or("")));
        rest = dot.and_then(|at| before.get(..at));
    }
    names.reverse();
    names.retain(|name| !is_longer(name, 2 * MAX_WORD));
    names
}

fn list_networks(host: &str) -> Vec<&str> {
    if is_longer(host, MAX_WORD) {
        return Vec::new();
    }
    let stops: Vec<usize> = host.match_indices('.').map(|(at, _)| at).collect();
    match stops[..] {
        [_, second, third] => {
            vec![host, host.get(..third).unwrap_or(""), host.get(..second).unwrap_or("")]
        }
        _ => vec![host],
    }
}

/// Add a host with its parents, each after a prefix.
pub fn push_parents(host: &str, prefix: &str, found: &mut Words) {
    for name in list_parents(host) {
        found.push_pieces(&[prefix, name]);
    }
}

/// True if invisible characters split a word, or one turns the text round.
pub fn has_zero_width(text: &str) -> Read<bool> {
    Ok(!text.is_ascii() && splits_words(text)?)
}
