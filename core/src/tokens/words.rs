//! nbspam/tokens/words.py: running text becomes words.

use super::bag::{Words, INNER};
use super::characters::are_alnum;
use super::unicode_words::{fold, splits_words};
use crate::mail::message::Read;
use crate::text::{count, is_ascii_digit, is_longer, rpartition, split_kept};
use std::borrow::Cow;

pub const MAX_WORD: usize = 40;
const MIN_SPACED: usize = 3;
const MAX_LEVELS: usize = 6;
pub const CURRENCIES: &str = "€£¥￥₽₩₹₺₴₸₪₫₱₦₡฿৳";

/// Byte -> whether words have it: letters, digits, some marks, and all bytes of UTF-8 beyond ASCII.
const ALPHABET: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let one = byte as u8;
        table[byte] = !one.is_ascii()
            || one.is_ascii_alphanumeric()
            || matches!(one, b'$' | b'%' | b'\'' | b'-' | b'.' | b',' | b'_' | b'@');
        byte += 1;
    }
    table
};

fn is_joiner(character: char) -> bool {
    matches!(character, '\'' | '-' | '.' | ',' | '_' | '@')
}

fn is_single(word: &str) -> bool {
    word.len() <= 4 && count(word) == 1
}

/// Add the first `limit` words of a text, each after a prefix.
pub fn split_words(text: &str, limit: usize, prefix: &str, found: &mut Words) -> Read<()> {
    let begin = found.len();
    let mut text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(fold(text)?) };
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        text.to_mut().make_ascii_lowercase();
    }
    found.reserve(text.len());
    if !Collector::new(prefix, false, found).split_chunks(&text, limit)? {
        found.truncate(begin);
        let mut words = Words::default();
        Collector::new("", true, &mut words).split_chunks(&text, limit)?;
        spell_out(&words, prefix, found)?;
    }
    found.truncate(begin + limit);
    Ok(())
}

/// A chunk without the two commonest ends of a word.
fn strip_end(chunk: &str) -> &str {
    let chunk = chunk.strip_suffix('.').unwrap_or(chunk);
    chunk.strip_suffix(',').unwrap_or(chunk)
}

/// Where the words of one text are added.
struct Collector<'a> {
    prefix: &'a str,
    keeps_singles: bool,
    singles: usize, // in a row, up to the last word
    found: &'a mut Words,
}

impl<'a> Collector<'a> {
    fn new(prefix: &'a str, keeps_singles: bool, found: &'a mut Words) -> Self {
        Collector { prefix, keeps_singles, singles: 0, found }
    }

    /// Add the words of the first `limit` chunks; False at the first run of single characters that may be a word.
    fn split_chunks(&mut self, text: &str, limit: usize) -> Read<bool> {
        let chunks = split_kept(text, |byte| ALPHABET.get(usize::from(byte)) == Some(&true));
        for chunk in chunks.map(strip_end).filter(|chunk| !chunk.is_empty()).take(limit) {
            if self.singles >= MIN_SPACED && !self.keeps_singles {
                return Ok(false);
            }
            self.split_chunk(chunk)?;
        }
        Ok(self.singles < MIN_SPACED || self.keeps_singles)
    }

    fn split_chunk(&mut self, chunk: &str) -> Read<()> {
        let is_plain = chunk.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_plain || (!chunk.is_ascii() && are_alnum(chunk)) {
            return self.add(chunk);
        }
        self.split_irregular(chunk)
    }

    /// Add a word, or the token of a long run of letters and digits; a single letter of ASCII stays out.
    fn add(&mut self, word: &str) -> Read<()> {
        if is_longer(word, MAX_WORD) && are_alnum(word) {
            return self.add_skip(word);
        }
        self.singles = if is_single(word) { self.singles + 1 } else { 0 };
        if self.keeps_singles || word.len() != 1 {
            self.found.push_pieces(&[self.prefix, word]);
        }
        Ok(())
    }

    fn add_skip(&mut self, chunk: &str) -> Read<()> {
        self.singles = 0;
        self.found.push_pieces(&[self.prefix, &make_skip_token(chunk)]);
        Ok(())
    }

    /// Add a word, or the token of a run too long to be one.
    fn add_short(&mut self, word: &str, most: usize) -> Read<()> {
        if is_longer(word, most) {
            self.add_skip(word)
        } else {
            self.add(word)
        }
    }

    fn add_parents(&mut self, host: &str) -> Read<()> {
        list_parents(host).try_for_each(|name| self.add(name))
    }

    /// Add the words of a chunk that has another character in it than letters and digits.
    fn split_irregular(&mut self, chunk: &str) -> Read<()> {
        if chunk.contains(INNER) {
            let pieces: Vec<&str> = chunk.split(INNER).collect();
            return pieces.windows(2).try_for_each(|pair| self.add(&pair.concat()));
        }
        let chunk = chunk.trim_matches(is_joiner);
        if chunk.is_empty() {
            Ok(())
        } else if is_numeric(chunk) && (is_longer(chunk, MAX_WORD) || !is_four_numbers(chunk)) {
            self.add_short(chunk, MAX_WORD)
        } else if is_numeric(chunk) {
            self.add_parents(chunk)
        } else if chunk.contains('@') {
            self.split_address(chunk)
        } else if chunk.contains(['.', ',']) || chunk.contains("--") {
            self.split_compound(chunk)
        } else if !is_longer(chunk, MAX_WORD) || are_alnum(chunk) {
            self.add(chunk)
        } else {
            self.split_pieces(&chunk.replace(['-', '_', '\''], " "))
        }
    }

    /// someone@host.example: the whole, then the host with its parents.
    fn split_address(&mut self, chunk: &str) -> Read<()> {
        let (local, _, host) = rpartition(chunk, "@");
        self.add_short(chunk, if local.contains('@') { 0 } else { 2 * MAX_WORD })?;
        self.add_parents(host.trim_matches(is_joiner))
    }

    /// Words run together by full stops or commas; a dotted name is also kept whole, with its parents.
    fn split_compound(&mut self, chunk: &str) -> Read<()> {
        if !chunk.contains(',') && !chunk.contains("--") && !is_longer(chunk, MAX_WORD) {
            if chunk.contains("..") {
                self.add(chunk)?;
            } else {
                list_parents(chunk).filter(|name| name.contains('.')).try_for_each(|name| self.add(name))?;
            }
        }
        self.split_pieces(&chunk.replace([',', '.'], " ").replace("--", " "))
    }

    /// Words between spaces, of two characters or more.
    fn split_pieces(&mut self, spaced: &str) -> Read<()> {
        for piece in spaced.split(' ').map(|piece| piece.trim_matches(is_joiner)) {
            if is_longer(piece, 1) {
                self.add_short(piece, MAX_WORD)?;
            }
        }
        Ok(())
    }
}

/// Add the words, with what each run of single characters spells.
fn spell_out(words: &Words, prefix: &str, found: &mut Words) -> Read<()> {
    let mut run = Vec::new();
    for word in words.iter() {
        if is_single(word) {
            run.push(word);
        } else {
            spell(&run, prefix, found)?;
            run.clear();
            found.push_pieces(&[prefix, word]);
        }
    }
    spell(&run, prefix, found)
}

/// The pictures in a run of single characters, and the word that its letters spell.
fn spell(run: &[&str], prefix: &str, found: &mut Words) -> Read<()> {
    let mut letters = Vec::new();
    for one in run {
        if are_alnum(one) {
            letters.push(*one);
        } else if !one.is_ascii() {
            found.push_pieces(&[prefix, one]);
        }
    }
    let word = letters.concat();
    if letters.len() < MIN_SPACED || is_ascii_digit(&word) {
        let foreign = letters.iter().filter(|letter| !letter.is_ascii());
        foreign.for_each(|letter| found.push_pieces(&[prefix, letter]));
    } else if letters.len() <= MAX_WORD {
        found.push_pieces(&[prefix, "spaced=", &word]);
    } else {
        found.push_pieces(&[prefix, &make_skip_token(&word)]);
    }
    Ok(())
}

/// The token of a run too long to be a word: its first character and its length in tens.
pub fn make_skip_token(chunk: &str) -> String {
    let first = chunk.chars().next().unwrap_or(' ');
    format!("skip={first}:{}", count(chunk).min(990) / 10 * 10)
}

/// True for a number, price, share or version: only digits, `$ . , % -` and currency signs.
pub fn is_numeric(chunk: &str) -> bool {
    chunk.chars().all(|one| {
        one.is_ascii_digit()
            || matches!(one, '$' | '.' | ',' | '%' | '-')
            || (!one.is_ascii() && CURRENCIES.contains(one))
    })
}

/// True for digits and three full stops, in any order.
pub fn is_four_numbers(text: &str) -> bool {
    count_dots(text) == 3 && text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// A host name or IPv4 address with its parents: a.b.example -> itself, b.example, example.
pub fn list_parents(host: &str) -> impl Iterator<Item = &str> {
    let dots = count_dots(host);
    let is_name = dots > 0 && !is_numeric(host);
    let networks = if is_name || is_longer(host, MAX_WORD) { [None; 3] } else { list_networks(host) };
    let longest = host.splitn((dots + 1).saturating_sub(MAX_LEVELS) + 1, '.').last().filter(|_| is_name);
    let names = std::iter::successors(longest, |name| name.split_once('.').map(|(_, parent)| parent));
    networks.into_iter().flatten().chain(names.filter(|name| !is_longer(name, 2 * MAX_WORD)))
}

fn count_dots(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'.').count()
}

/// 192.0.2.7 -> itself, 192.0.2, 192.0; another host itself, if it is not empty.
fn list_networks(host: &str) -> [Option<&str>; 3] {
    let mut stops = host.match_indices('.').map(|(at, _)| at).skip(1);
    match (stops.next(), stops.next(), stops.next()) {
        (Some(second), Some(third), None) => [Some(host), host.get(..third), host.get(..second)],
        _ => [Some(host).filter(|host| !host.is_empty()), None, None],
    }
}

/// Add a host with its parents, each after a prefix.
pub fn push_parents(host: &str, prefix: &str, found: &mut Words) {
    list_parents(host).for_each(|name| found.push_pieces(&[prefix, name]));
}

/// True if invisible characters split a word, or one turns the text round.
pub fn has_zero_width(text: &str) -> bool {
    !text.is_ascii() && splits_words(text)
}
