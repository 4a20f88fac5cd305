//! nbspam/mail/charset.py: bytes of text to str.  UTF-8, ASCII and windows-1252 are read here, others by Python.

use super::headers::latin_1;
use super::message::Read;
use crate::limits::Allowance;
use crate::python::call;
use crate::tables::{list_parts, CHARSETS};
use crate::text::split_space;
use memchr::memchr2;
use std::collections::HashMap;
use std::sync::LazyLock;

const CHARSET: &str = "nbspam.mail.charset";
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
    let page = ["windows", "win", "dos"]
        .iter()
        .fold(&name[..], |page, start| page.strip_prefix(start).unwrap_or(page));
    CODECS.get(&name[..]).or_else(|| CODECS.get(&["cp", page].concat()[..])).copied().unwrap_or_default()
}

/// True of codecs in which ASCII bytes may be other characters.
fn is_stateful(codec: &str) -> bool {
    ["utf_7", "utf_16", "utf_32", "hz", "iso2022_"].iter().any(|start| codec.starts_with(start))
}

/// The text of bytes declared as `label` (lower-case, "" if nothing is declared).
pub fn decode(payload: &[u8], label: &str, allowance: &mut Allowance) -> Read<String> {
    let codec = look_up_codec(label);
    let is_unknown = codec.is_empty() && !label.is_empty();
    let is_special = is_unknown || is_stateful(codec) || memchr2(b'\x1b', b'\0', payload).is_some();
    let found = if is_special { None } else { decode_common(payload, codec) };
    let Some((text, is_bad)) = found else {
        let (text, _): (String, String) = allowance.ask(CHARSET, "decode", (payload, label))?;
        return Ok(text);
    };
    if is_bad {
        allowance.note("bad-charset");
    }
    Ok(text)
}

/// What is sound UTF-8 or windows-1252 as text, and whether it is the other one of them than is declared.
fn decode_common(payload: &[u8], codec: &str) -> Option<(String, bool)> {
    let marks = [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"];
    let is_marked = marks.iter().any(|mark| payload.starts_with(mark));
    let is_common = !is_marked && matches!(codec, "" | "ascii" | "utf-8" | "cp1252");
    if !is_common && !payload.is_ascii() {
        return None;
    }
    match std::str::from_utf8(payload) {
        Ok(text) => Some((text.to_string(), codec == "cp1252" && !text.is_ascii())),
        Err(_) if codec == "cp1252" => {
            Some((payload.iter().map(|byte| windows_1252(*byte)).collect(), false))
        }
        Err(_) => None,
    }
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
    let is_plain =
        payload.is_ascii() && !payload.iter().any(|byte| matches!(byte, b'\x1b' | b'\x0e' | b'~' | b'\0'));
    if is_plain {
        return Ok(latin_1(payload));
    }
    allowance.ask(CHARSET, "decode_raw", (payload, label))
}

/// The codec for raw 8-bit header values: the one that the body declares, if it fits, else a guess.
pub fn choose_header_codec(payload: &[u8], label: &str, allowance: &mut Allowance) -> Read<String> {
    allowance.ask(CHARSET, "choose_header_codec", (payload, label))
}

/// Decode, errors replaced.
pub fn decode_with(codec: &str, payload: &[u8]) -> Read<String> {
    call(CHARSET, "decode_with", (codec, payload))
}

/// The charset an HTML page names for itself, "" if none.
pub fn find_page_charset(payload: &[u8]) -> Read<String> {
    call(CHARSET, "find_page_charset", (payload.get(..2048).unwrap_or(payload),))
}
