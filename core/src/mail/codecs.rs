//! Text in the charsets that Python has tables of, each asked for once; nbspam/mail/iso_2022.py.

use super::charset::windows_1252;
use super::headers::from;
use super::message::{Read, RARE};
use crate::python::{note_asked, run};
use crate::tables::{list_parts, CHARSETS};
use crate::tokens::bag::Words;
use memchr::memchr2;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

pub const BROKEN: &str = "\u{fffd}";
const PAIRED: [&str; 5] = ["big5hkscs", "cp932", "cp949", "euc_jp", "gb18030"];
const FOREIGN: [&str; 8] = ["utf_", "hz", "iso2022_", "johab", "euc_jis", "shift_jis", "cp864", "ascii"];
const TRAILS: std::ops::RangeInclusive<u8> = 0x30..=0xff;
const MAX_BROKEN: usize = 50_000;

/// What the bytes of a charset mean; "" for nothing.
#[derive(Default)]
struct Codec {
    bytes: Words,   // from 0x80 on
    pairs: Words,   // the first byte from 0x80 on, the second of TRAILS
    triples: Words, // of EUC-JP: the same after 0x8f
    is_gb18030: bool,
}

/// True of a codec of which Python alone decodes text.
pub fn is_foreign(codec: &str) -> bool {
    FOREIGN.iter().any(|start| codec.starts_with(start))
}

fn find_codec(name: &'static str) -> Read<&'static Codec> {
    static CODECS: LazyLock<HashMap<&str, OnceLock<Codec>>> =
        LazyLock::new(|| list_parts(CHARSETS).map(|(name, _)| (name, OnceLock::new())).collect());
    let codec = CODECS.get(name).ok_or(RARE)?;
    if let Some(found) = codec.get() {
        return Ok(found);
    }
    let mut found = Codec { is_gb18030: name == "gb18030", ..Codec::default() };
    found.bytes = ask_texts(name, (0x80..=0xff).map(|byte| vec![byte]))?;
    let pairs = || (0x80..=0xff).flat_map(|first| TRAILS.map(move |second| vec![first, second]));
    if PAIRED.contains(&name) {
        found.pairs = ask_texts(name, pairs())?;
    }
    if name == "euc_jp" {
        found.triples = ask_texts(name, pairs().map(|pair| [&[0x8f][..], &pair].concat()))?;
    }
    Ok(codec.get_or_init(|| found))
}

/// The text of each code in Python's codec; "" if it is none.
fn ask_texts(codec: &str, codes: impl Iterator<Item = Vec<u8>>) -> Read<Words> {
    note_asked("bytes", "decode");
    let data = codes.collect::<Vec<_>>().join(&b'\n');
    let text: String =
        run(|py| PyBytes::new(py, &data).call_method1("decode", (codec, "replace"))?.extract())?;
    let mut found = Words::default();
    text.split('\n').for_each(|text| found.push(if text.contains(BROKEN) { "" } else { text }));
    Ok(found)
}

fn find_pair(pairs: &Words, first: u8, second: u8) -> &str {
    let row = usize::from(first - 0x80) * TRAILS.len();
    if TRAILS.contains(&second) {
        pairs.get(row + usize::from(second - TRAILS.start()))
    } else {
        ""
    }
}

impl Codec {
    /// Decode, errors replaced as in Python.  mending : cp932, for rows that EUC-JP lacks
    fn decode(&self, payload: &[u8], mending: Option<&Codec>) -> Read<String> {
        let mut found = String::with_capacity(payload.len());
        let mut rest = payload;
        while !rest.is_empty() {
            let (plain, after) = rest.split_at(rest.iter().take_while(|byte| byte.is_ascii()).count());
            found.push_str(std::str::from_utf8(plain).unwrap_or_default());
            rest = from(after, self.decode_one(after, mending, &mut found)?);
        }
        Ok(found)
    }

    /// Add the character at the start of a text that is not ASCII; its bytes.
    fn decode_one(&self, rest: &[u8], mending: Option<&Codec>, found: &mut String) -> Read<usize> {
        let is_digit = |byte: Option<&u8>| self.is_gb18030 && byte.is_some_and(u8::is_ascii_digit);
        let [first, ..] = rest else { return Ok(0) };
        let size = match rest {
            _ if !self.bytes.get(usize::from(first - 0x80)).is_empty() => 1,
            [0x8f, ..] if !self.triples.is_empty() => 3,
            _ if is_digit(rest.get(1)) => 4,
            _ => 2,
        };
        let text = match (size, rest) {
            (1, _) => self.bytes.get(usize::from(first - 0x80)),
            (2, [first, second, ..]) => find_pair(&self.pairs, *first, *second),
            (3, [_, second @ 0x80..=0xff, third, ..]) => find_pair(&self.triples, *second, *third),
            (4, [0x81..=0xfe, _, 0x81..=0xfe, fourth, ..]) if fourth.is_ascii_digit() => return Err(RARE),
            _ => "",
        };
        if !text.is_empty() {
            found.push_str(text);
            return Ok(size);
        }
        match (mending, rest) {
            (Some(cp932), [first @ 0xa1..=0xff, second @ 0xa1..=0xff, ..]) => {
                let (row, cell) = (first - 0xa1, second - 0xa1);
                let lead = row / 2 + if row < 62 { 0x81 } else { 0xc1 };
                let trail = if row % 2 == 1 { cell + 0x9f } else { cell + 0x40 + u8::from(cell > 62) };
                let text = cp932.decode(&[lead, trail], None)?.replace(BROKEN, "");
                found.push_str(if text.is_empty() { BROKEN } else { &text });
                return Ok(2);
            }
            _ => found.push_str(BROKEN),
        }
        Ok(if mending.is_none() && rest.len() < size { rest.len() } else { 1 })
    }
}

/// Decode, errors replaced.
pub fn decode_with(codec: &'static str, payload: &[u8]) -> Read<String> {
    match codec {
        "cp1252" => Ok(payload.iter().map(|byte| windows_1252(*byte)).collect()),
        "utf-8" => Ok(String::from_utf8_lossy(payload).into_owned()),
        _ if is_foreign(codec) || (codec == "euc_jp" && payload.len() > MAX_BROKEN) => Err(RARE),
        "euc_jp" => find_codec(codec)?.decode(payload, Some(find_codec("cp932")?)),
        _ => decode_plainly(codec, payload),
    }
}

/// The same with the table of the codec alone.
pub fn decode_plainly(codec: &'static str, payload: &[u8]) -> Read<String> {
    find_codec(codec)?.decode(payload, None)
}

/// The text of ISO-2022-JP; other escapes than those for ASCII and kanji are rare.
pub fn decode_iso_2022(payload: &[u8]) -> Read<String> {
    let mut found = String::with_capacity(payload.len());
    if memchr2(b'\x0e', b'\x0f', payload).is_some() || payload.len() > MAX_BROKEN {
        return Err(RARE);
    }
    for piece in [b"(B", payload].concat().split(|byte| *byte == b'\x1b') {
        match piece {
            [b'(', b'B' | b'J', text @ ..] => match std::str::from_utf8(text) {
                Ok(text) => found.push_str(text),
                Err(_) => found.push_str(&decode_with("cp932", text)?),
            },
            [b'$', b'@' | b'B', text @ ..] => {
                let raise = |byte: &u8| if (0x21..=0x7e).contains(byte) { byte | 0x80 } else { *byte };
                found.push_str(&decode_with("euc_jp", &text.iter().map(raise).collect::<Vec<u8>>())?);
            }
            _ => return Err(RARE),
        }
    }
    Ok(found)
}
