//! nbspam/mail/charset.py: bytes of text to str.  UTF-16, UTF-7, HZ and rare charsets are read by Python.

use super::codecs::{decode_iso_2022, decode_with, is_foreign, BROKEN};
use super::guess::guess_codec;
use super::message::{Read, RARE};
use crate::limits::Allowance;
use crate::tables::{list_parts, list_words, Names, CHARSETS, KINDS};
use crate::text::split_space;
use memchr::{memchr, memmem};
use std::collections::HashMap;
use std::sync::LazyLock;

const MARK: &str = "\u{feff}";
const MOST_OF_UTF_8: f64 = 0.34;
pub const MOST_IF_DECLARED: f64 = 0.5;
const TAKING_ALL: [&str; 7] = ["cp125", "cp437", "cp85", "cp86", "iso8859", "koi8", "mac_"];
/// Names from programs that did not know the charset.
static EMPTY: Names = LazyLock::new(|| list_words(KINDS, "charsets"));
/// Name without punctuation -> the codec of Python.
static CODECS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    list_parts(CHARSETS).flat_map(|(codec, names)| names.map(move |name| (name, codec))).collect()
});
/// These bytes in windows-1252; the five undefined ones are control characters, as in browsers.
const WINDOWS_C1: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The Python codec for a charset name as mail writes it (lower-case); "" if it is unknown.
pub fn look_up_codec(label: &str) -> &'static str {
    let label = label.replace(['"', '\'', ';'], " ");
    let word = split_space(&label).next().unwrap_or_default();
    let name = word.strip_prefix("charset=").unwrap_or(word).split(['*', ':']).next().unwrap_or_default();
    let name = name.strip_prefix("x-").unwrap_or(name).replace(['-', '_'], "");
    let page = name.trim_start_matches(|letter: char| letter.is_ascii_lowercase() || letter == '0');
    CODECS.get(&name[..]).or_else(|| CODECS.get(&["cp", page].concat()[..])).copied().unwrap_or_default()
}

/// The text of bytes declared as `label` (lower-case, "" if nothing is declared).
pub fn decode(payload: &[u8], label: &str, allowance: &mut Allowance) -> Read<String> {
    let codec = look_up_codec(label);
    if codec.is_empty() && !label.is_empty() && !EMPTY.contains(&&label.replace('_', "-")[..]) {
        allowance.note("unknown-charset");
    }
    let text = decode_as(payload, codec, allowance)?;
    Ok(text.strip_prefix(MARK).map(str::to_string).unwrap_or(text))
}

/// The text with its byte order mark.  UTF-16, some codecs and some escapes are rare.
fn decode_as(payload: &[u8], codec: &'static str, allowance: &mut Allowance) -> Read<String> {
    let is_jis = codec.starts_with("iso2022_jp");
    let is_wide = payload.starts_with(b"\xff\xfe") || payload.starts_with(b"\xfe\xff");
    if is_wide || memchr(b'\0', payload).is_some() || (is_foreign(codec) && !is_jis && codec != "ascii") {
        return Err(RARE);
    }
    if payload.starts_with(MARK.as_bytes()) {
        return Ok(String::from_utf8_lossy(payload).into_owned());
    }
    let has_escapes = [&b"\x1b$"[..], b"\x1b(I"].iter().any(|escape| memmem::find(payload, escape).is_some());
    if is_jis || (has_escapes && (codec != "utf-8" || payload.is_ascii())) {
        let is_escaped = has_escapes || payload.is_ascii();
        let text = if is_escaped { decode_iso_2022(payload)? } else { return Err(RARE) };
        return if is_sound(&text, 0.2) { Ok(text) } else { Err(RARE) };
    }
    let is_open = matches!(codec, "" | "ascii");
    let takes_all = TAKING_ALL.iter().any(|start| codec.starts_with(start));
    match std::str::from_utf8(payload) {
        Ok(text) if text.is_ascii() || is_open || takes_all || codec == "utf-8" => {
            if takes_all && !text.is_ascii() {
                allowance.note("bad-charset");
            }
            Ok(text.to_string())
        }
        sound => decode_legacy(payload, codec, sound.ok(), allowance),
    }
}

/// What is no ASCII, and not as UTF-8 as its declaration allows.  utf_8 : the text, if it is sound UTF-8
fn decode_legacy(
    payload: &[u8],
    codec: &'static str,
    utf_8: Option<&str>,
    allowance: &mut Allowance,
) -> Read<String> {
    let is_open = matches!(codec, "" | "ascii");
    let declared = if is_open || codec == "utf-8" { None } else { try_decode(payload, codec)? };
    if let Some(text) = declared.or(utf_8.map(str::to_string)) {
        return Ok(text);
    }
    allowance.note(if is_open { "no-charset" } else { "bad-charset" });
    if is_sound(
        &String::from_utf8_lossy(payload),
        if codec == "utf-8" { MOST_IF_DECLARED } else { MOST_OF_UTF_8 },
    ) {
        decode_with("utf-8", payload)
    } else if is_open || codec == "utf-8" {
        decode_with(guess(payload, allowance)?, payload)
    } else {
        decode_with(codec, payload)
    }
}

/// The text, None if it is not of this codec; EUC-JP may have a few errors.
fn try_decode(payload: &[u8], codec: &'static str) -> Read<Option<String>> {
    let most = if codec == "euc_jp" { 0.1 } else { 0.0 };
    Ok(Some(decode_with(codec, payload)?).filter(|text| is_sound(text, most)))
}

/// True if at most this share of the characters that are not ASCII is broken.
pub fn is_sound(text: &str, most: f64) -> bool {
    let high = text.chars().filter(|character| !character.is_ascii()).count();
    text.matches(BROKEN).count() as f64 <= most * high as f64
}

fn guess(payload: &[u8], allowance: &mut Allowance) -> Read<&'static str> {
    if allowance.guesses <= 0 {
        return Ok("cp1252");
    }
    allowance.guesses -= 1;
    guess_codec(payload)
}

/// The character of a byte in windows-1252.
pub fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_C1.chars().nth(usize::from(byte - 0x80)).unwrap_or_default(),
        _ => char::from(byte),
    }
}

/// The text of a raw header value, which may have the escapes of ISO-2022 and HZ.  label : of the body, or ""
pub fn decode_raw(payload: &[u8], label: &str, allowance: &mut Allowance) -> Read<String> {
    if payload.is_ascii() && memmem::find(payload, b"~{").is_some() {
        return Err(RARE);
    }
    decode(payload, if look_up_codec(label).starts_with("iso2022_") { label } else { "" }, allowance)
}

/// The codec for raw 8-bit header values: the one that the body declares, if it fits, else a guess.
pub fn choose_header_codec(payload: &[u8], label: &str, allowance: &mut Allowance) -> Read<&'static str> {
    let codec = look_up_codec(label);
    if matches!(codec, "" | "ascii" | "utf-8") || try_decode(payload, codec)?.is_none() {
        return if is_sound(&String::from_utf8_lossy(payload), MOST_OF_UTF_8) {
            Ok("utf-8")
        } else {
            guess(payload, allowance)
        };
    }
    Ok(codec)
}
