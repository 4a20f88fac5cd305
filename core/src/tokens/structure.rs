//! nbspam/tokens/structure.py: how a message is made, its texts, and the addresses of the web in it.

use super::armour::remove_armour;
use super::bag::{Words, INNER};
use super::characters::{is_alpha, pin};
use super::headers::counts_as_evidence;
use super::unicode_words::fold;
use super::words::{has_zero_width, make_skip_token, push_parents, split_words, MAX_WORD};
use crate::limits::MAX_TOKENS;
use crate::mail::headers::{find_header, from, latin_1, unify_line_ends};
use crate::mail::html::read_html;
use crate::mail::message::{Document, Html, Message, Part, Raw, Read};
use crate::mail::transfer::read_hex;
use crate::python::call;
use crate::tables::{list_pairs, KINDS};
use crate::text::{
    first, is_ascii_digit, is_space, last, lower, partition, rpartition, split_kept, without_space,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

const STRUCTURE: &str = "nbspam.tokens.structure";
const MAX_ALT_WORDS: usize = 100;
const MAX_TITLE_WORDS: usize = 100;
const MAX_NAME_WORDS: usize = 20;
const MAX_DIGITS: usize = 40; // of a number in a host
pub const MAX_URLS: usize = 500;
const MAX_LINKS: usize = 300;
const MAX_HOST: usize = 80;
const MAX_SCHEME: usize = 20;
const MAX_FOUND_SCHEME: usize = 12;
const MAX_URL: usize = 2_000;
const MAX_INNER: usize = 5;
const MAX_PATH_WORDS: usize = 30;
const MAX_RAW_BYTES: usize = 3_000;
const MAX_LINE_END: usize = 3;
pub const ENCODING_MARK: &str = "encoding=";
const RUN_BYTES: usize = 5;
const ONE_IN: u32 = 16;
const FACTORS: [u32; RUN_BYTES] = [1_566_083, 69_069, 1_664_525, 196_797, 1_097_303];
/// How files begin that are no text, in hexadecimal digits, by their kind.
static MAGIC: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| list_pairs(KINDS, "magic"));

/// What a mail declares, as one short token: no white space.
fn shorten(text: &str, limit: usize) -> String {
    first(&without_space(first(text, 4 * limit)), limit).to_string()
}

/// How many bits a number has.
fn bit_length(number: usize) -> String {
    (usize::BITS - number.leading_zeros()).to_string()
}

/// Content types in order, defects, the size of the message as a power of two, and the number of parts.
pub fn tokenize_form(message: &Message, size_bytes: usize) -> Words {
    let mut found = Words::default();
    for kind in &message.structure {
        found.push_pieces(&["type=", &shorten(kind, 60)]);
    }
    for defect in &message.defects {
        found.push_pieces(&["defect=", defect]);
    }
    found.push_pieces(&["size=", &bit_length(size_bytes)]);
    found.push_pieces(&["parts=", &message.parts.len().min(9).to_string()]);
    found
}

/// Encoding, character set, disposition, and for an attachment its name, ending and true kind.
fn tokenize_part(part: &Part, found: &mut Words) -> Read<()> {
    let declared = [
        (ENCODING_MARK, &part.encoding, 20),
        ("charset=", &part.declared_charset, 30),
        ("disposition=", &part.disposition, 20),
    ];
    for (mark, value, limit) in declared {
        if !value.is_empty() {
            found.push_pieces(&[mark, &shorten(value, limit)]);
        }
    }
    for filename in part.embedded_names.iter().chain([&part.filename]) {
        if !filename.is_empty() {
            tokenize_filename(filename, found)?;
        }
    }
    if part.text.is_empty() && part.size_bytes > 0 {
        let kind = shorten(&part.content_type, 60);
        found.push_pieces(&["attached=", &kind, ":", &bit_length(part.size_bytes)]);
        let head: String = part.payload_magic.iter().map(|byte| format!("{byte:02x}")).collect();
        for (kind, start) in MAGIC.iter() {
            if head.starts_with(start) {
                found.push_pieces(&["magic=", kind]);
            }
        }
    }
    part.document.as_ref().map_or(Ok(()), |document| tokenize_document(document, found))
}

/// The ending of a file's name, a double one as well (pdf.exe), and the words of the rest.
fn tokenize_filename(filename: &str, found: &mut Words) -> Read<()> {
    let pinned = pin(filename);
    let spaced: Vec<&str> = crate::text::split_space(&pinned).collect();
    let whole = lower(&spaced.join(" "))?.into_owned();
    let name = last(whole.trim_end_matches([' ', '.']), 200);
    let (stem, has_dot, ending) = rpartition(name, ".");
    if has_dot {
        found.push_pieces(&["ending=", &shorten(ending, 10)]);
        let (_, has_second, second) = rpartition(stem.trim_end_matches(is_space), ".");
        if has_second && (2..=4).contains(&crate::text::count(second)) {
            found.push_pieces(&["ending=", &shorten(&[second, ".", ending].concat(), 14)]);
        }
    }
    // The name that counts, not the one that is seen.
    let opened = if stem.is_empty() { name } else { stem }.replace('\u{202e}', "");
    split_words(&opened, MAX_NAME_WORDS, "file=", found)?;
    if !name.is_ascii() && has_zero_width(filename) {
        found.push("file=#zero-width");
    }
    Ok(())
}

/// What a document says of itself and does, and what an archive holds: few have any of it.
fn tokenize_document(document: &Document, found: &mut Words) -> Read<()> {
    let Document { marks, names, says, .. } = document;
    if marks.is_empty() && names.is_empty() && says.is_empty() {
        return Ok(());
    }
    let lists = (marks.as_slice(), names.as_slice(), says.as_slice());
    let tokens: Vec<String> = call(STRUCTURE, "tokenize_document", lists)?;
    tokens.iter().for_each(|token| found.push(token));
    Ok(())
}

/// Words of the title and of what is shown for images; how much is split or in comments.
fn tokenize_page(html: &Html, found: &mut Words) -> Read<()> {
    split_words(&html.title, MAX_TITLE_WORDS, "title=", found)?;
    split_words(&html.alts.join(" "), MAX_ALT_WORDS, "alt=", found)?;
    if html.comments > 0 {
        found.push_pieces(&["comments=", &bit_length(html.comments)]);
    }
    if html.joined > 0 {
        found.push_pieces(&["joined=", &bit_length(html.joined)]);
    }
    Ok(())
}

/// Running text without its URLs, and the URLs.  A URL is letters, ://, and what follows up to a space.
fn cut_urls(text: &str) -> (Cow<'_, str>, Vec<&str>) {
    let mut rest = Vec::new();
    let mut urls = Vec::new();
    let mut start = 0;
    let finder = memchr::memmem::Finder::new("://");
    while urls.len() < MAX_URLS {
        let Some(found) = finder.find(text.as_bytes().get(start..).unwrap_or(&[])) else { break };
        let at = start + found;
        let before = text.as_bytes().get(start..at).unwrap_or(&[]);
        let letters =
            before.iter().rev().take(MAX_FOUND_SCHEME).take_while(|byte| byte.is_ascii_alphabetic());
        let begin = at - letters.count();
        let after = at + "://".len();
        let end = after + find_url_end(text.as_bytes().get(after..).unwrap_or(&[]));
        rest.push(text.get(start..begin).unwrap_or(""));
        let url = text.get(begin..end).unwrap_or("");
        urls.push(url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '*', '_', '~']));
        start = end;
    }
    if urls.is_empty() {
        return (Cow::Borrowed(text), urls);
    }
    rest.push(text.get(start..).unwrap_or(""));
    (Cow::Owned(rest.join(" ")), urls)
}

/// Where the first character is that no address has; brackets may be around a host of IPv6.
fn find_url_end(text: &[u8]) -> usize {
    // Chinese follows an address without a space.
    let is_end = |byte: &u8| !byte.is_ascii() || *byte <= b' ' || b"<>\"'`{}|\\^[]".contains(byte);
    let text = text.get(..MAX_URL).unwrap_or(text);
    let mut start = 0;
    if text.first() == Some(&b'[') {
        let host = text.iter().take(MAX_HOST).take_while(|byte| byte.is_ascii());
        let bracket = host.clone().position(|byte| *byte == b']').unwrap_or(0);
        if host.take(bracket).filter(|byte| **byte == b':').count() > 1 {
            start = bracket + 1;
        }
    }
    start + text.iter().skip(start).take_while(|byte| !is_end(byte)).count()
}

/// The name of a host in lower case, without user, port and last dot; its tokens are added.
///
/// authority : user@host:port in lower case
fn read_host(authority: &str, found: &mut Words) -> Read<String> {
    let (_, has_user, host) = rpartition(authority, "@");
    let (host, _, port) = match host.strip_prefix('[') {
        Some(address) => partition(address, "]"), // IPv6
        None => partition(host, ":"),
    };
    let name = normalise_host(host)?;
    if has_user {
        found.push("url=#user");
    }
    let port = port.trim_matches(':');
    if !port.is_empty() {
        found.push_pieces(&["url=port:", first(port, 6)]);
    }
    if host.contains(['%', '&']) {
        found.push("url=#escaped-host");
    }
    push_parents(&name, "url=", found);
    if name.contains(':') || is_ascii_digit(&name.replace('.', "")) {
        found.push("url=#ip");
    }
    if !host.is_ascii() || host.contains("xn--") {
        found.push("url=#idn");
    }
    Ok(name)
}

/// Add the tokens of a URL, each with the prefix `url=`; the name of its host.
fn read_url(url: &str, found: &mut Words) -> Read<String> {
    let (scheme, rest) = split_scheme(url)?;
    if scheme == "mailto" {
        let address = partition(&rest, "?").0;
        let mail_host = lower(rpartition(address, "@").2)?;
        found.push("url=mailto");
        push_parents(without_space(&mail_host).trim_matches('.'), "url=", found);
        return Ok(String::new());
    }
    let is_www = rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    let begins_with_host =
        is_www || rest.chars().take_while(|one| matches!(one, '/' | '\\')).nth(1).is_some();
    if scheme.is_empty() && !begins_with_host {
        tokenize_path(&rest, found);
        return Ok(String::new());
    }
    if !scheme.is_empty() {
        found.push_pieces(&["url=", first(&scheme, MAX_SCHEME)]);
        // A browser finds the hosts of these without slashes, too; others are cid: data: javascript: tel:
        if !begins_with_host && !matches!(scheme.as_str(), "http" | "https" | "ftp") {
            return Ok(String::new());
        }
    }
    let rest = without_space(&rest);
    let (authority, path) = split_authority(&rest)?;
    let host = read_host(&authority, found)?;
    let path = if path.contains('%') { Cow::Owned(unescape(path)) } else { Cow::Borrowed(path) };
    if path.len() > 1 {
        tokenize_path(&path, found);
    }
    // The address sends the reader on to another one.
    for inner in path.splitn(MAX_INNER + 1, "://").skip(1) {
        let inner = without_space(inner);
        let (inner_authority, _) = split_authority(&inner)?;
        read_host(&inner_authority, found)?;
    }
    Ok(host)
}

/// Scheme in lower case, perhaps "", and the rest; browsers ignore tabs and line ends.
fn split_scheme(url: &str) -> Read<(String, String)> {
    let mut url = pin(first(url, MAX_URL)).into_owned();
    url.retain(|one| one >= ' ');
    let url = url.trim_matches(is_space);
    if let Some((scheme, rest)) = url.split_once(':') {
        if is_alpha(scheme) {
            return Ok((lower(scheme)?.into_owned(), rest.to_string()));
        }
    }
    Ok((String::new(), url.to_string()))
}

/// What follows the scheme, as (user@host:port in lower case, path and query); \ is / for a browser.
fn split_authority(rest: &str) -> Read<(String, &str)> {
    let rest = rest.trim_start_matches(['/', '\\']);
    let size = rest.find(['/', '\\', '?', '#', ',', ';']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(size);
    Ok((lower(authority)?.into_owned(), path))
}

/// The host that a browser looks for: escapes decoded, letters folded, a number as four.
fn normalise_host(host: &str) -> Read<String> {
    let mut name = host.to_string();
    if name.contains('%') {
        name = without_space(&lower(&unescape(&name))?).into_owned();
    }
    if !name.is_ascii() {
        name = without_space(&fold(&name.replace(['\u{3002}', '\u{ff61}'], "."))?.replace(INNER, ""))
            .into_owned();
    }
    let name = name.trim_matches('.');
    let is_number = rpartition(name, ".").2.starts_with(|one: char| one.is_ascii_digit());
    Ok(if is_number { normalise_ipv4(name) } else { None }.unwrap_or_else(|| name.to_string()))
}

/// The dotted form of an IPv4 address as browsers read it.
fn normalise_ipv4(host: &str) -> Option<String> {
    let numbers = host.split('.').map(read_number).collect::<Option<Vec<u64>>>()?;
    let (last, first) = numbers.split_last().filter(|(_, first)| first.len() < 4)?;
    if *last >= 1 << (8 * (4 - first.len())) || first.iter().any(|number| *number > 255) {
        return None;
    }
    let address = first.iter().zip([24, 16, 8]).fold(*last, |sum, (number, place)| sum | number << place);
    Some(Ipv4Addr::from(address as u32).to_string())
}

/// A hexadecimal (0x1f), octal (017) or decimal number.
fn read_number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain || text.len() > MAX_DIGITS {
        return None;
    }
    let after =
        |text: &'_ str, mark| text.get(..2).filter(|start| start.eq_ignore_ascii_case(mark)).map(|_| 2);
    let read =
        |text: &str, mark, base| u64::from_str_radix(&text[after(text, mark).unwrap_or(0)..], base).ok();
    match after(text, "0x") {
        Some(_) if text.len() == 2 => Some(0),
        Some(start) => read(&text[start..], "0x", 16),
        None if text.starts_with('0') => read(text, "0o", 8),
        None => text.parse().ok(),
    }
}

/// The text with its escapes (%2F) decoded, as UTF-8.
fn unescape(text: &str) -> String {
    let mut found = Vec::with_capacity(text.len());
    let mut pieces = text.as_bytes().split(|byte| *byte == b'%');
    found.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        let escaped = read_hex(piece);
        found.push(escaped.unwrap_or(b'%'));
        found.extend_from_slice(from(piece, if escaped.is_some() { 2 } else { 0 }));
    }
    String::from_utf8_lossy(&found).into_owned()
}

/// Words of path and query; numbers are dropped, long runs become skip tokens.
fn tokenize_path(path: &str, found: &mut Words) {
    let path = path.to_ascii_lowercase();
    for word in split_kept(&path, |byte| byte.is_ascii_alphanumeric()).take(MAX_PATH_WORDS) {
        if word.len() > MAX_WORD {
            found.push_pieces(&["url=", &make_skip_token(word)]);
        } else if word.len() > 1 && !is_ascii_digit(word) {
            found.push_pieces(&["url=/", word]);
        }
    }
}

/// The Latin-1 character that stands for a byte in a token: no white space, no control character.
fn show_byte(byte: u8) -> u8 {
    match byte {
        b' ' => 0xb7,
        b'\n' => 0xb6,
        b'\t' => 0xbb,
        0x80..=0xa0 => byte + 0x40,
        0x21..=0x7e | 0xa1..=0xff => byte,
        _ => 0xa4,
    }
}

/// The chosen runs of the first MAX_RAW_BYTES of a message, in order, repeats kept.
pub fn tokenize_raw(raw: &Raw) -> Words {
    let text = show_raw(raw);
    let mut found = Words::default();
    for run in text.windows(RUN_BYTES).filter(|run| is_chosen(run)) {
        found.push_pieces(&["raw=", &latin_1(run)]);
    }
    found
}

/// True of one run in ONE_IN, by a sum of the bytes, each times a factor; it is below 2^32.
fn is_chosen(run: &[u8]) -> bool {
    let sum: u32 = run.iter().zip(FACTORS).map(|(byte, factor)| u32::from(*byte) * factor).sum();
    (sum >> 16) % ONE_IN == 0
}

/// The first MAX_RAW_BYTES as they are shown, without `From ` lines, fields that are no evidence, empty lines at the end.
fn show_raw(raw: &Raw) -> Vec<u8> {
    let data = raw.data;
    let most = MAX_LINE_END * MAX_RAW_BYTES;
    let mut kept: Vec<u8> = Vec::with_capacity(data.len().min(2 * most));
    let mut after = find_header(data);
    for (start, stop, name) in &raw.spans {
        if counts_as_evidence(name) {
            kept.extend_from_slice(data.get(*start..(*stop).min(start + most)).unwrap_or(&[]));
        }
        after = *stop;
    }
    kept.extend_from_slice(data.get(after..data.len().min(after + most)).unwrap_or(&[]));
    kept.truncate(most);
    let text = unify_line_ends(&kept);
    let text = text.get(..MAX_RAW_BYTES).unwrap_or(&text);
    let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    text.iter().take(end).map(|byte| show_byte(*byte)).collect()
}

/// What the texts of a message gave, see Texts in Python.
#[derive(Default)]
pub struct Texts {
    pub body: Words,
    pub structure: Words,
    pub visible: Vec<String>,
    pub pages: Vec<Html>,
    pub hosts: Vec<String>,
}

impl Texts {
    /// Read a part as far as a mail program shows it; a document comes last, see read_rest().
    pub fn read_part(&mut self, part: &Part) -> Read<()> {
        tokenize_part(part, &mut self.structure)?;
        if !part.text.is_empty() && !part.is_replaced && self.body.len() < MAX_TOKENS {
            self.read_text(part)?;
        }
        for (name, text) in &part.embedded_headers {
            if name == "subject" || name == "from" {
                split_words(text, MAX_TOKENS, "", &mut self.body)?;
            }
        }
        Ok(())
    }

    /// Read what mail programs do not show, and after it what attached documents say.
    pub fn read_rest(&mut self, parts: &[Part]) -> Read<()> {
        if parts.iter().any(|part| part.is_replaced) {
            self.read_replaced(parts)?;
        }
        for part in parts.iter().filter(|part| !part.is_replaced) {
            if let Some(document) = &part.document {
                for address in &document.addresses {
                    read_url(address, &mut self.structure)?;
                }
                self.read_shown(&document.text)?;
            }
        }
        Ok(())
    }

    /// Read texts that a mail program shows another text for: only if that has no word, image or link.
    fn read_replaced(&mut self, parts: &[Part]) -> Read<()> {
        let replaced = parts.iter().filter(|part| part.is_replaced);
        let shows_more = self.pages.iter().any(|page| !page.images.is_empty() || !page.links.is_empty());
        if self.body.is_empty() && !shows_more {
            for part in replaced {
                self.read_text(part)?;
            }
            return Ok(());
        }
        let plain: Vec<&str> = replaced
            .filter(|part| part.content_type == "text/plain")
            .map(|part| part.text.as_str())
            .collect();
        let mut found = Words::default();
        split_words(&cut_urls(&plain.join("\n")).0, MAX_TOKENS, "", &mut found)?;
        let shown: HashSet<&str> = self.body.iter().collect();
        let differs = 2 * found.iter().filter(|word| !shown.contains(word)).count() > found.len();
        if differs {
            self.structure.push("alternative=#differs");
        }
        Ok(())
    }

    fn read_text(&mut self, part: &Part) -> Read<()> {
        let mut text = Cow::Borrowed(part.text.as_str());
        if part.is_html {
            let mut html = read_html(&text)?;
            self.read_page(&html)?;
            text = Cow::Owned(std::mem::take(&mut html.visible));
            self.pages.push(html);
        }
        let (text, hosts) = self.read_shown(&text)?;
        self.hosts.extend(hosts);
        if has_zero_width(&text) {
            self.structure.push("zero-width=#");
        }
        self.visible.push(text.into_owned());
        Ok(())
    }

    /// Add the tokens of a text that is shown; the text without its URLs, and their hosts.
    fn read_shown<'a>(&mut self, text: &'a str) -> Read<(Cow<'a, str>, Vec<String>)> {
        let (text, urls) = cut_urls(text);
        let mut hosts = Vec::with_capacity(urls.len());
        for url in urls {
            hosts.push(read_url(url, &mut self.structure)?);
        }
        let limit = MAX_TOKENS.saturating_sub(self.body.len());
        split_words(&remove_armour(&text), limit, "", &mut self.body)?;
        Ok((text, hosts))
    }

    /// Where links and images lead to, and what tokenize_page() finds.
    fn read_page(&mut self, html: &Html) -> Read<()> {
        for (target, text) in html.links.iter().take(MAX_LINKS) {
            let host = read_url(target, &mut self.structure)?;
            if target.contains("://") {
                if text.contains('.') && disagrees(&host, text)? {
                    self.structure.push("link=#disagrees");
                }
                self.hosts.push(host);
            }
        }
        for source in html.images.iter().take(MAX_LINKS) {
            let scheme = if source.starts_with("//") { "//" } else { partition(source, ":").0 };
            let scheme = lower(scheme)?;
            self.structure.push_pieces(&["image=", &shorten(&scheme, 6)]);
            read_url(source, &mut self.structure)?;
        }
        tokenize_page(html, &mut self.structure)
    }
}

/// True if a link's text is the name of a host with other last two labels than the host it leads to.
fn disagrees(host: &str, text: &str) -> Read<bool> {
    let (_, rest) = split_scheme(text)?;
    let (authority, _) = split_authority(&rest)?;
    let shown = read_host(&authority, &mut Words::default())?;
    if text.contains('@') || shown.contains(' ') || !shown.trim_matches('.').contains('.') {
        return Ok(false);
    }
    Ok(!host.rsplit('.').take(2).eq(shown.rsplit('.').take(2)))
}
