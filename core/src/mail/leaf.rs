//! nbspam/mail/leaf.py: one leaf of the MIME tree: its header fields and raw bytes to a Part.

use super::charset::{decode, is_sound, look_up_codec, MOST_IF_DECLARED};
use super::encoded_words::decode_words;
use super::headers::{between, get_parameter, parse_parameters, to_bytes, trim_start, Parameters};
use super::html::tags::find_page_charset;
use super::message::{Document, Part, Read, RARE};
use super::transfer::{decode_transfer, normalise_encoding};
use crate::limits::Allowance;
use crate::tables::{list_pairs, list_words, Names, KINDS};
use crate::text::{count, first, is_space, lower, partition, rpartition};
use memchr::memmem;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Kinds that contain a message, or the header of one, or may contain one.
pub static MESSAGES: Names =
    LazyLock::new(|| [list_words(KINDS, "messages"), list_words(KINDS, "signed")].concat());
static CARDS: Names = LazyLock::new(|| list_words(KINDS, "cards"));
/// Ending of a file's name -> its kind.
static NAMED: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| list_pairs(KINDS, "named"));
static PAGES: Names = LazyLock::new(|| list_words(KINDS, "pages"));
const RTF: &[u8] = b"{\\rtf";
const ZIP: &[u8] = b"PK\x03\x04";
const PDF: &[u8] = b"%PDF";
const OLE: &[u8] = b"\xd0\xcf\x11\xe0";
const TNEF: &[u8] = b"\x78\x9f\x3e\x22";
const HTML_STARTS: [&str; 9] =
    ["<html", "<!doctype html", "<head", "<body", "<table", "<div", "<center", "<font", "<meta"];
const HTML_FILE_STARTS: [&[u8]; 7] =
    [b"<html", b"<!doctype html", b"<head", b"<body", b"<script", b"<meta", b"<svg"];
const HEAD: usize = 64; // bytes of a file, one of which no text has
const LEAST_CONTROLS: usize = 8; // of a file of another kind, in its first 512 bytes
const BEFORE_PDF: usize = 1_024; // bytes of anything before it that viewers skip

/// A part of which only the header fields are known.
pub fn begin_part(content: &Parameters, allowance: &mut Allowance) -> Read<Part> {
    let mut part = Part { content_type: "text/plain".to_string(), ..Part::default() };
    if let Some(value) = content.get("content-type") {
        read_type(&mut part, value, allowance)?;
    }
    part.encoding = normalise_encoding(get_parameter(content, "content-transfer-encoding"));
    if let Some(value) = content.get("content-disposition").filter(|value| !value.is_empty()) {
        let (head, parameters) = parse_parameters(value, allowance)?;
        part.disposition = if head == "inline" { "inline" } else { "attachment" }.to_string();
        part.filename = decode_filename(get_parameter(&parameters, "filename"), allowance)?;
    }
    if part.filename.is_empty() {
        part.filename = decode_filename(get_parameter(&part.parameters, "name"), allowance)?;
    }
    if !part.filename.is_empty() {
        part.content_type = guess_type(&part.content_type, &part.filename, &part.disposition)?;
    }
    Ok(part)
}

fn read_type(part: &mut Part, value: &str, allowance: &mut Allowance) -> Read<()> {
    let (head, parameters) = parse_parameters(value, allowance)?;
    part.declared_charset = get_parameter(&parameters, "charset").to_lowercase();
    let (main, _, sub) = partition(&head, "/");
    part.content_type = if !main.is_empty() && !sub.is_empty() && !sub.contains('/') {
        head
    } else if main == "multipart" && parameters.contains_key("boundary") {
        "multipart/mixed".to_string()
    } else {
        allowance.note("bad-content-type");
        "text/plain".to_string()
    };
    part.parameters = parameters;
    Ok(())
}

/// A file's name as Windows compares it.
fn normalise_filename(filename: &str) -> Read<String> {
    Ok(lower(filename)?.trim_end_matches([' ', '.']).to_string())
}

/// The type that mail programs take a file for: by its name where its declared type is vague.
fn guess_type(kind: &str, filename: &str, disposition: &str) -> Read<String> {
    let name = normalise_filename(filename)?;
    let ending = rpartition(&name, ".").2;
    let (main, _, sub) = partition(kind, "/");
    let is_vague = main == "application" && (sub.starts_with("x-") || sub == "octet-stream" || sub == ending);
    let is_attached_text = kind == "text/plain" && disposition == "attachment";
    if !(is_vague || is_attached_text) {
        return Ok(kind.to_string());
    }
    let named = NAMED.iter().find(|(known, _)| *known == ending);
    Ok(named.map_or(kind, |(_, named)| named).to_string())
}

/// The name in a parameter (Latin-1 code points) as a reader sees it.
fn decode_filename(text: &str, allowance: &mut Allowance) -> Read<String> {
    if text.is_ascii() && !text.contains("=?") {
        return Ok(text.to_string());
    }
    decode_words(&to_bytes(text), allowance)
}

/// The part of these bytes.  Files in it, uuencoded or of TNEF, are rare.
pub fn read_leaf(part: Part, payload: Cow<'_, [u8]>, allowance: &mut Allowance) -> Read<Part> {
    let payload = decode_transfer(payload, &part.encoding, allowance)?;
    if payload.starts_with(TNEF) || (part.content_type == "text/plain" && may_have_files(&payload)) {
        return Err(RARE);
    }
    read_payload(part, &payload, allowance)
}

fn may_have_files(payload: &[u8]) -> bool {
    payload.starts_with(b"begin ")
        || memmem::find(payload, b"\nbegin ").is_some()
        || memmem::find(payload, b"=ybegin ").is_some()
}

/// Read the payload of a part, which is no longer encoded.
fn read_payload(mut part: Part, payload: &[u8], allowance: &mut Allowance) -> Read<Part> {
    let kind = part.content_type.clone();
    part.size_bytes = payload.len();
    part.payload_magic = between(payload, 0, 16).to_vec();
    let is_text = kind.starts_with("text/") || kind.starts_with("message/");
    if CARDS.contains(&kind.as_str()) || (is_text && may_be_file(payload)) {
        return Err(RARE);
    }
    let is_page = kind == "text/html" || is_hidden_page(&part, payload)?;
    let is_shown = is_page || (kind == "text/plain" && part.disposition != "attachment");
    if payload.starts_with(RTF) && !is_shown {
        return Ok(part); // also where it is declared as text/rtf: its commands are no words
    }
    if is_page || is_text {
        part.is_html = is_page;
        read_text(&mut part, payload, allowance)?;
        if kind == "text/plain" && get_parameter(&part.parameters, "delsp").eq_ignore_ascii_case("yes") {
            part.text = part.text.replace("\r\n", "\n").replace("\n-- \n", "\n--\n").replace(" \n", "");
        }
    } else if may_be_document(payload) {
        return Err(RARE);
    } else {
        part.document = Some(Document::default());
    }
    Ok(part)
}

/// Text may be ISO-2022, or coloured.
fn is_no_text(byte: &u8) -> bool {
    *byte < 32 && !b"\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x1b".contains(byte)
}

/// True if a part that is declared as text may be a file, or UTF-16.
fn may_be_file(payload: &[u8]) -> bool {
    let head = trim_start(between(payload, 0, HEAD));
    let controls = between(payload, 0, 512).iter().filter(|byte| is_no_text(byte) && **byte != 0);
    head.starts_with(PDF) || head.iter().any(is_no_text) || controls.count() >= LEAST_CONTROLS
}

/// True if a file is an archive, a PDF or an office document.
fn may_be_document(payload: &[u8]) -> bool {
    let has_pdf = memmem::find(between(payload, 0, BEFORE_PDF), PDF).is_some();
    has_pdf || payload.starts_with(ZIP) || payload.starts_with(OLE)
}

/// True if a part of another type opens in a browser, as a page.
fn is_hidden_page(part: &Part, payload: &[u8]) -> Read<bool> {
    let kind = part.content_type.as_str();
    if matches!(kind, "application/xhtml+xml" | "image/svg+xml") {
        return Ok(true);
    }
    let is_application = kind.starts_with("application/");
    if !is_application && part.disposition != "attachment" {
        return Ok(false);
    }
    let head = between(trim_start(payload), 0, 1_000).to_ascii_lowercase();
    let is_drawing = head.starts_with(b"<?xml") && memmem::find(&head, b"<svg").is_some();
    if is_application && (is_drawing || HTML_FILE_STARTS.iter().any(|start| head.starts_with(start))) {
        return Ok(true);
    }
    let name = normalise_filename(&part.filename)?;
    let is_named = PAGES.iter().any(|ending| name.ends_with(ending));
    Ok(is_named && (head.contains(&b'<') || (!head.contains(&0) && payload.contains(&b'<'))))
}

/// The charset of a page: as declared, if that can be; UTF-8 if the page says so and it is UTF-8.
fn choose_page_charset(mut label: String, payload: &[u8], allowance: &mut Allowance) -> Read<String> {
    if look_up_codec(&label).starts_with("utf_16") && !payload.contains(&0) {
        label.clear(); // markup in UTF-16 has zero bytes
    }
    let codec = look_up_codec(&label);
    let is_open = matches!(codec, "" | "ascii");
    let utf_8 = String::from_utf8_lossy(payload);
    let named = find_page_charset(payload)?;
    let fits = match look_up_codec(&named) {
        "utf-8" => matches!(utf_8, Cow::Borrowed(_)),
        _ => codec == "utf-8" && !is_sound(&utf_8, MOST_IF_DECLARED),
    };
    if named.is_empty() || !(is_open || fits) {
        return Ok(label);
    }
    if is_open && !label.is_empty() {
        allowance.note("no-charset");
    }
    Ok(named)
}

fn read_text(part: &mut Part, payload: &[u8], allowance: &mut Allowance) -> Read<()> {
    let mut label = part.declared_charset.clone();
    if part.is_html && !payload.is_ascii() {
        label = choose_page_charset(label, payload, allowance)?;
    }
    part.text = decode(payload, &label, allowance)?;
    if !part.is_html {
        let start = first(&part.text, 200).trim_start_matches(is_space);
        let has_start =
            |known: &&str| start.get(..known.len()).is_some_and(|text| text.eq_ignore_ascii_case(known));
        part.is_html = HTML_STARTS.iter().any(has_start) && is_mostly_shown(&part.text)?;
    }
    Ok(())
}

/// True if text that begins as HTML shows at least half of itself as HTML.
fn is_mostly_shown(text: &str) -> Read<bool> {
    let mut shown = lower(text)?.into_owned();
    for (begin, end) in [("<!--", "-->"), ("<style", "</style"), ("<script", "</script")] {
        let mut pieces = shown.split(begin);
        let mut kept = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let Some((_, after)) = piece.split_once(end) else { return Ok(false) };
            kept.push_str(after);
        }
        shown = kept;
    }
    Ok(count(&shown) * 2 >= count(text))
}
