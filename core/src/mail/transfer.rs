//! nbspam/mail/transfer.py: Content-Transfer-Encoding.

use super::headers::{from, trim_end};
use super::message::{Read, RARE};
use crate::limits::Allowance;
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// The usual name of a Content-Transfer-Encoding: lower-case, without comment or junk.  value : Latin-1
pub fn normalise_encoding(value: &str) -> String {
    let lower = value.to_lowercase();
    let name = lower.split([';', '(']).next().unwrap_or_default();
    let name = name.trim_matches([' ', '\t', '"', '\'']);
    match name {
        _ if name.starts_with("quoted") => "quoted-printable",
        _ if name.starts_with("base64") || name.starts_with("base-64") => "base64",
        "7-bit" | "7bits" => "7bit",
        "8-bit" | "8bits" => "8bit",
        _ => name,
    }
    .to_string()
}

/// The decoded payload; the same bytes if the encoding is unknown.
pub fn decode_transfer<'a>(
    payload: Cow<'a, [u8]>,
    encoding: &str,
    allowance: &mut Allowance,
) -> Read<Cow<'a, [u8]>> {
    match encoding {
        "" | "7bit" | "8bit" | "binary" => Ok(payload),
        // Blanks after a soft line break are rare.
        "quoted-printable" if [b"= ", b"=\t"].iter().any(|mark| memmem::find(&payload, *mark).is_some()) => {
            Err(RARE)
        }
        "quoted-printable" => Ok(Cow::Owned(decode_escapes(&payload, false))),
        "base64" => Ok(Cow::Owned(decode_base64(&payload)?)),
        "x-uuencode" | "uuencode" | "x-uue" | "uue" | "x-uu" => Err(RARE),
        _ => {
            allowance.note("unknown-encoding");
            Ok(payload)
        }
    }
}

/// binascii.a2b_qp.  is_header : `_` is a space
pub fn decode_escapes(data: &[u8], is_header: bool) -> Vec<u8> {
    let mut found = Vec::with_capacity(data.len());
    let mut place = 0;
    while let Some(byte) = data.get(place) {
        place += 1;
        if *byte != b'=' {
            found.push(if is_header && *byte == b'_' { b' ' } else { *byte });
            continue;
        }
        match data.get(place) {
            None => break,
            Some(b'\n' | b'\r') => {
                place += memchr(b'\n', from(data, place)).map_or(data.len(), |feed| feed + 1);
            }
            Some(b'=') => {
                found.push(b'=');
                place += 1;
            }
            Some(_) => {
                let escaped = read_hex(from(data, place));
                found.push(escaped.unwrap_or(b'='));
                place += if escaped.is_some() { 2 } else { 0 };
            }
        }
    }
    found
}

/// The byte that the two hexadecimal digits at the start of a text are.
pub fn read_hex(text: &[u8]) -> Option<u8> {
    let [high, low, ..] = text else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// Byte -> its value in base64, or FOREIGN.
const BASE64: [u8; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut table = [FOREIGN; 256];
    let mut value = 0;
    while value < letters.len() {
        table[letters[value] as usize] = value as u8;
        value += 1;
    }
    table
};
const FOREIGN: u8 = 64;

/// Base64, also with foreign characters; words, wrong padding, a footer or more base64 after it are rare.
pub fn decode_base64(payload: &[u8]) -> Read<Vec<u8>> {
    let text = trim_end(payload);
    let is_foreign = |byte: &&u8| BASE64[usize::from(**byte)] == FOREIGN && !b"\t\n\r=".contains(byte);
    let foreign = payload.iter().filter(is_foreign).count();
    let is_one = foreign <= (payload.len() / 12).max(3)
        && memmem::find(text, b"\n\n").is_none()
        && memchr(b'=', payload).is_none_or(|pad| text.len() <= pad + 2);
    is_one.then(|| decode_strictly(payload)).flatten().ok_or(RARE)
}

/// binascii.a2b_base64; None if the padding is wrong.
fn decode_strictly(payload: &[u8]) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(payload.len() / 4 * 3 + 3);
    let (mut bits, mut place, mut pads) = (0_u32, 0, 0);
    for byte in payload {
        let value = BASE64[usize::from(*byte)];
        if value < FOREIGN {
            pads = 0;
            place += 1;
            bits = bits << 6 | u32::from(value);
            if place == 4 {
                let [_, first, second, third] = bits.to_be_bytes();
                found.extend_from_slice(&[first, second, third]);
                place = 0;
            }
        } else if *byte == b'=' && place >= 2 {
            pads += 1;
            if place + pads >= 4 {
                let rest = (bits << (6 * (4 - place))).to_be_bytes();
                found.extend(rest.into_iter().skip(1).take(place - 1));
                return Some(found);
            }
        }
    }
    (place == 0).then_some(found)
}

/// White space of `bytes` in Python.
pub fn is_white(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
