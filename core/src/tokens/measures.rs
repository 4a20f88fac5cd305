//! nbspam/tokens/measures.py: numeric features of a message as tokens, by the bin of the value.

use super::bag::Words;
use super::structure::{Texts, MAX_URLS};
use super::words::CURRENCIES;
use crate::mail::message::{Message, Read};
use crate::text::{count, find_runs, first, is_digit, is_longer, lower, rpartition, split_space};
use memchr::{memchr_iter, memmem};
use std::borrow::Cow;
use std::collections::HashSet;

const MAX_HOPS: usize = 50;
const MAX_TRACE_WORDS: usize = 60;
const MAX_BRACKETS: usize = 1_000;
const MAX_MEASURED: usize = 50_000;
const FIRST_OF_MANY: u8 = 0xc0; // from here on a byte is the first one of a character beyond ASCII
/// An inner edge of the bins of a measure, and how tokens write it.
type Edge = (f64, &'static str);

macro_rules! edges {
    ($($edge:literal),*) => { &[$(($edge as f64, stringify!($edge))),*] };
}

const SHARE: &[Edge] = edges!(0.001, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7);
const NUMBER: &[Edge] = edges!(1, 2, 3, 5, 8, 16, 32);
const SIZE: &[Edge] =
    edges!(64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288);
const SUBJECT: &[Edge] = edges!(1, 10, 20, 30, 40, 50, 60, 80);
const HALF: &[Edge] = edges!(0.5);

/// Add the tokens of a message, in the order of BIN_EDGES in Python.
pub fn tokenize_measures(message: &Message, texts: &Texts, size_bytes: usize) -> Read<Words> {
    let text = join_visible(texts);
    let quoted = texts.pages.iter().map(|page| page.quoted).sum();
    let made_of = Characters::count(&text, quoted);
    let hosts: HashSet<&String> = texts.hosts.iter().take(MAX_URLS).collect();
    let comments = texts.pages.iter().map(|page| page.comments).sum();
    let has_pages = !texts.pages.is_empty();
    let subject_length = message.get("subject").map(|subject| number(count(subject)));
    let telephones = if made_of.digits >= 8 { count_telephone_numbers(&text) } else { 0 };
    let mut found = Words::default();
    let mut add = |name, value, edges| push_bin(name, value, edges, &mut found);
    add("size", Some(number(size_bytes)), SIZE);
    add("defects", Some(number(message.defects.len())), NUMBER);
    add("digit_share", made_of.share(made_of.digits), SHARE);
    add("punctuation_share", made_of.share(made_of.punctuation), SHARE);
    add("exclamation_marks", Some(number(made_of.exclamation_marks)), NUMBER);
    add("currency_marks", Some(number(made_of.currency_marks)), NUMBER);
    add("quoted_share", made_of.quoted_share(), SHARE);
    add("distinct_hosts", Some(number(hosts.len())), NUMBER);
    add("html_comments", has_pages.then(|| number(comments)), NUMBER);
    add("subject_length", subject_length, SUBJECT);
    add("foreign_message_id", has_foreign_message_id(message)?, HALF);
    add("unnamed_origin", has_unnamed_origin(message)?, HALF);
    add("telephone_numbers", Some(number(telephones)), NUMBER);
    Ok(found)
}

fn number(count: usize) -> f64 {
    count as f64
}

/// Add the token of the bin of a value.
fn push_bin(name: &str, value: Option<f64>, edges: &[Edge], found: &mut Words) {
    let Some(value) = value else { return found.push_pieces(&[name, "=none"]) };
    match edges.iter().rev().find(|(edge, _)| value >= *edge) {
        Some((_, edge)) => found.push_pieces(&[name, ">=", edge]),
        None => found.push_pieces(&[name, "<", edges.first().map_or("", |(_, edge)| edge)]),
    }
}

/// The first MAX_MEASURED characters of what a reader sees.
fn join_visible(texts: &Texts) -> Cow<'_, str> {
    let pieces: Vec<&str> = texts.visible.iter().map(|text| first(text, MAX_MEASURED)).collect();
    match pieces[..] {
        [only] => Cow::Borrowed(only),
        _ => Cow::Owned(first(&pieces.join("\n"), MAX_MEASURED).to_string()),
    }
}

/// What a text is made of, see Characters in Python.
struct Characters {
    ink: usize,
    digits: usize,
    punctuation: usize,
    exclamation_marks: usize,
    currency_marks: usize,
    lines: usize,
    quoted: usize,
}

impl Characters {
    /// quoted : lines that are quoted but do not begin with >
    fn count(text: &str, quoted: usize) -> Self {
        let mut times = [0; 256];
        text.bytes().for_each(|byte| times[usize::from(byte)] += 1);
        let is_foreign_mark = |one: &char| !one.is_ascii() && CURRENCIES.contains(*one);
        let foreign_marks = if text.is_ascii() { 0 } else { text.chars().filter(is_foreign_mark).count() };
        let n_quoted = memmem::find_iter(text.as_bytes(), "\n>").count() + usize::from(text.starts_with('>'));
        Characters {
            ink: add_up(&times, |byte| byte.is_ascii_graphic() || *byte >= FIRST_OF_MANY),
            digits: add_up(&times, u8::is_ascii_digit),
            punctuation: add_up(&times, u8::is_ascii_punctuation),
            exclamation_marks: add_up(&times, |byte| *byte == b'!'),
            currency_marks: add_up(&times, |byte| *byte == b'$') + foreign_marks,
            lines: 1 + memchr_iter(b'\n', text.trim_end_matches('\n').as_bytes()).count(),
            quoted: quoted + n_quoted,
        }
    }

    /// A number of characters as a share of all except white space; None if there are none.
    fn share(&self, n: usize) -> Option<f64> {
        (self.ink > 0).then(|| number(n) / number(self.ink))
    }

    fn quoted_share(&self) -> Option<f64> {
        (self.ink > 0).then(|| (number(self.quoted) / number(self.lines)).min(1.0))
    }
}

/// How many bytes of a kind there are.
fn add_up(times: &[usize; 256], is_one: impl Fn(&u8) -> bool) -> usize {
    times.iter().enumerate().filter(|(byte, _)| is_one(&(*byte as u8))).map(|(_, times)| times).sum()
}

/// How many runs of digits and -.()+ have ten to twelve digits, and numbers after (713) and a blank.
fn count_telephone_numbers(text: &str) -> usize {
    let raw = text.as_bytes();
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'(' | b')' | b'+' | b'/');
    let mut found = 0;
    for (_, run) in find_runs(raw, 10, is_part) {
        if (10..=12).contains(&count_digits(run)) && !run.contains(&b'/') && !has_three_stops(run) {
            found += 1;
        }
    }
    for bracket in memchr_iter(b'(', raw).take(MAX_BRACKETS) {
        found += usize::from(begins_with_area_code(raw.get(bracket + 1..).unwrap_or(&[])));
    }
    found
}

fn count_digits(run: &[u8]) -> usize {
    run.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// True for three full stops between other characters.
fn has_three_stops(run: &[u8]) -> bool {
    let start = run.iter().position(|byte| *byte != b'.').unwrap_or(0);
    let end = run.iter().rposition(|byte| *byte != b'.').unwrap_or(0);
    run.get(start..end).unwrap_or(&[]).iter().filter(|byte| **byte == b'.').count() == 3
}

/// after : what follows a bracket, as in (713) 555-0100
fn begins_with_area_code(after: &[u8]) -> bool {
    // Python looks at 17 characters, and each beyond ASCII ends a number; more than 17 bytes are not needed.
    let after = after.get(..17).unwrap_or(after);
    let Some(closing) = memmem::find(after, b") ") else { return false };
    let (area, local) = after.split_at(closing);
    let local = local.get(2..).unwrap_or(&[]);
    let size = local.iter().position(|byte| !byte.is_ascii_digit() && !b"-. ".contains(byte));
    let local = local.get(..size.unwrap_or(local.len())).unwrap_or(&[]);
    (2..=5).contains(&area.len())
        && count_digits(area) == area.len()
        && (6..=8).contains(&count_digits(local))
}

/// 1 if Message-ID was made on a host unrelated to that of From; None if a host is not named.
fn has_foreign_message_id(message: &Message) -> Read<Option<f64>> {
    let sender = find_address_host(message.get("from").unwrap_or(""))?;
    let made_by = find_address_host(message.get("message-id").unwrap_or(""))?;
    if sender.is_empty() || made_by.is_empty() {
        return Ok(None);
    }
    let is_foreign = !made_by.rsplit('.').take(2).eq(sender.rsplit('.').take(2));
    Ok(Some(f64::from(u8::from(is_foreign))))
}

/// What follows the last @, up to a space or bracket; lower case; may be empty.
fn find_address_host(text: &str) -> Read<String> {
    let (_, has_at, tail) = rpartition(text, "@");
    let end = tail.find(['>', ' ', '\t', '"', ')', ',', ';']).unwrap_or(tail.len());
    let host = if has_at { tail.get(..end).unwrap_or("") } else { "" };
    Ok(lower(host.trim_matches('.'))?.into_owned())
}

/// 1 if the earliest host with a public address in Received has no name by that address, else 0.
fn has_unnamed_origin(message: &Message) -> Read<Option<f64>> {
    let fields = message.headers.iter().rev().filter(|(name, _)| name == "received");
    let mut has_fields = false;
    for (_, text) in fields.take(MAX_HOPS) {
        has_fields = true;
        if let Some(is_named) = is_public_named(text)? {
            return Ok(Some(if is_named { 0.0 } else { 1.0 }));
        }
    }
    Ok(if has_fields { None } else { Some(0.0) })
}

/// Whether the host that handed the message over has a name; None if it is not public.
fn is_public_named(field: &str) -> Read<Option<bool>> {
    let field = lower(field)?;
    let words: Vec<&str> = split_space(&field).take(MAX_TRACE_WORDS).collect();
    if words.first() != Some(&"from") {
        return Ok(None);
    }
    let end = words.iter().position(|word| *word == "by").unwrap_or(words.len());
    let said = words.get(1..end).unwrap_or(&[]);
    let clause = said.join(" ").replace("helo=[", "helo=");
    let spaced = clause.replace(['(', ')', '[', ']', ',', ';', '@'], " ");
    let mut address = None;
    for word in split_space(&spaced) {
        if is_address(word)? {
            address = Some(word);
        }
    }
    let (Some(address), Some(first)) = (address, said.first()) else { return Ok(None) };
    if is_private(address) {
        return Ok(None);
    }
    let is_by_address =
        words.contains(&"(exim") || ["(helo", "(ehlo", "helo="].iter().any(|mark| clause.contains(mark));
    let mut name = *first;
    if !is_by_address && clause.contains('[') {
        // from what it calls itself (its name by address [address])
        name = rpartition(rpartition(&clause, "[").0, "(").2;
    }
    let name = rpartition(name, "@").2.trim_matches([' ', '.']);
    let is_unnamed = name.is_empty() || name == "unknown" || name.starts_with('[') || is_address(name)?;
    Ok(Some(!is_unnamed))
}

/// True for an address of IPv4 or, as programs write it, of IPv6.
fn is_address(word: &str) -> Read<bool> {
    let word = strip_mark(word);
    if word.bytes().filter(|byte| *byte == b'.').count() == 3 && is_digit(&word.replace('.', ""))? {
        return Ok(word.split('.').all(|part| !is_longer(part, 3)));
    }
    let is_colons = word.contains("::") || word.bytes().filter(|byte| *byte == b':').count() == 7;
    let is_inner = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b':' | b'.');
    Ok(is_colons && word.bytes().all(is_inner))
}

fn is_private(address: &str) -> bool {
    let address = strip_mark(address);
    let second = address.strip_prefix("172.").and_then(|rest| rest.split_once('.')).map(|(second, _)| second);
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| address.starts_with(beginning));
    begins(&["0.", "10.", "127.", "169.254.", "192.168.", "fc", "fd", "fe80:", "::1"])
        || second.is_some_and(|second| second.len() == 2 && (16..32).any(|n| second.parse() == Ok(n)))
}

/// An address without what RFC 5321, 4.1.3 has before one of IPv6; ::ffff:192.0.2.7 is 192.0.2.7.
fn strip_mark(address: &str) -> &str {
    let address = address.strip_prefix("ipv6:").unwrap_or(address);
    address.strip_prefix("::ffff:").unwrap_or(address)
}
