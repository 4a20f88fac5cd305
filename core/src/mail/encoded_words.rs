//! nbspam/mail/encoded_words.py: encoded words of header fields (RFC 2047).

use super::charset::{decode, decode_raw};
use super::headers::{between, from, latin_1};
use super::message::Read;
use super::transfer::{decode_base64, decode_escapes};
use crate::limits::Allowance;
use crate::text::is_space;
use memchr::{memchr, memmem};

const MAX_CHARSET_CHARACTERS: usize = 77;

/// The value with its encoded words decoded; the charset of other 8-bit text is guessed.
pub fn decode_words(value: &[u8], allowance: &mut Allowance) -> Read<String> {
    let mut out = String::new();
    let mut run: Vec<u8> = Vec::new(); // payloads of neighbouring words
    let mut run_charset: Option<String> = None;
    let mut position = 0;
    while allowance.encoded_words > 0 {
        let Some((start, stop)) = find_word(value, position) else { break };
        let (charset, payload) = decode_word(between(value, start + 2, stop - 2))?;
        allowance.encoded_words -= 1;
        let mut gap = between(value, position, start);
        let is_blank = gap.iter().all(|byte| matches!(byte, b' ' | b'\t'));
        if let Some(own) = run_charset.take_if(|own| *own != charset || !is_blank) {
            out.push_str(&decode_run(&run, &own, allowance)?);
            run.clear();
            gap = if is_blank { &[] } else { gap };
        }
        if run_charset.is_none() {
            out.push_str(&decode_raw(gap, "", allowance)?);
        }
        run.extend(payload);
        run_charset = Some(charset);
        position = stop;
    }
    if let Some(charset) = run_charset {
        out.push_str(&decode_run(&run, &charset, allowance)?);
    }
    out.push_str(&decode_raw(from(value, position), "", allowance)?);
    Ok(out)
}

/// (start, stop) of the next encoded word.
fn find_word(value: &[u8], position: usize) -> Option<(usize, usize)> {
    let find = |mark: &[u8], start: usize| memmem::find(from(value, start), mark).map(|place| start + place);
    let mut start = find(b"=?", position)?;
    loop {
        let mark = start + 2 + memchr(b'?', from(value, start + 2))?;
        let encoding = between(value, mark + 1, mark + 3).to_ascii_lowercase();
        if matches!(encoding.as_slice(), b"q?" | b"b?") && mark - start - 2 <= MAX_CHARSET_CHARACTERS {
            return find(b"?=", mark + 3).map(|stop| (start, stop + 2));
        }
        start = find(b"=?", start + 2)?;
    }
}

/// (lower-case charset, bytes) of `charset?q?text`.
fn decode_word(word: &[u8]) -> Read<(String, Vec<u8>)> {
    let mut pieces = word.splitn(3, |byte| *byte == b'?');
    let mut next = || pieces.next().unwrap_or_default();
    let (charset, encoding, text) = (latin_1(next()), next(), next());
    let charset = charset.split('*').next().unwrap_or_default().trim_matches(is_space).to_lowercase();
    let is_base64 = matches!(encoding, b"b" | b"B");
    let bytes = if is_base64 { decode_base64(text)? } else { decode_escapes(text, true) };
    Ok((charset, bytes))
}

fn decode_run(run: &[u8], charset: &str, allowance: &mut Allowance) -> Read<String> {
    Ok(decode(run, charset, allowance)?.replace(['\r', '\n'], " "))
}
