//! nbspam/tokens/headers.py: header fields become tokens of the header view.

use super::bag::Words;
use super::words::{alphabet, has_zero_width, look_up, make_skip_token, push_parents, split_words, MAX_WORD};
use crate::limits::MAX_TOKENS;
use crate::mail::message::{Field, Message, Read};
use crate::text::{
    first, is_digit, is_longer, is_upper, lower, partition, rpartition, split_space, split_space_at_most,
};

const MAX_FIELD_WORDS: usize = 400;
const MAX_TOKEN_NAME: usize = 60;
const MIN_CODE: usize = 24;
const MIN_CODED: usize = 60;
const MAX_ZONE: usize = 6;
const MAX_ORDER: usize = 200;
const ODD: &str = "#odd";
const SHAPED: usize = 60;
const MAX_SHAPE: usize = 24;

/// Letters, digits and . - _ @ stay; all else ends a chunk.
const SPLIT: [u8; 256] = alphabet(b".-_@");

/// NO_EVIDENCE in Python: whole names, in order.
const NAMES: [&str; 74] = [
    "content-length", "fcc", "forwarded", "gnus-warning", "ironport-sdr", "lines", "mbox-line", "old-status",
    "replied", "status", "x-account-key", "x-aol-global-disposition", "x-auth-result", "x-boxtrapper",
    "x-cfilter-loop", "x-content-length", "x-cursor-pos", "x-delivery-id", "x-dkim-result",
    "x-eopattributedmessage", "x-eoptenantattributedmessage", "x-filter-score", "x-flags", "x-folder",
    "x-from-line", "x-from_", "x-gm-labels", "x-gm-msgid", "x-gm-raw", "x-gm-thrid", "x-identity-key",
    "x-keywords", "x-kmail-cryptomessageformat", "x-kmail-cursorpos", "x-kmail-dictionary", "x-kmail-drafts",
    "x-kmail-encryptionstate", "x-kmail-fcc", "x-kmail-filtered", "x-kmail-identity", "x-kmail-link-message",
    "x-kmail-link-type", "x-kmail-mdn-sent", "x-kmail-redirect-from", "x-kmail-signaturestate",
    "x-kmail-templates", "x-kmail-transport", "x-length", "x-me-bayesian", "x-me-content", "x-message-info",
    "x-message-status", "x-mox-reason", "x-ms-exchange-eopdirect", "x-ms-exchange-processed-by-bccfoldering",
    "x-ms-exchange-transport-endtoendlatency", "x-ms-userlastlogontime", "x-our-headers", "x-our-replyto",
    "x-policyd-weight", "x-prerbls", "x-reply-mbox", "x-reply-uid", "x-sbrs", "x-scanned-by", "x-scanner",
    "x-sendergroup", "x-spf-scan-by", "x-status", "x-store-info", "x-tuid", "x-uniform-type-identifier",
    "x-universally-unique-identifier", "xref",
];
/// Beginnings of names, in order; none begins with another one.
const BEGINNINGS: [&str; 130] = [
    "cmm-x-", "ctch-", "spam-", "spamdiagnostic", "x-aes-category", "x-amavis-", "x-amp-", "x-apple-",
    "x-asg-", "x-assp-", "x-authority-analysis", "x-authority-info", "x-barracuda-", "x-bayes",
    "x-bitdefender", "x-bogosity", "x-brightmail", "x-cached-", "x-canit", "x-clamav", "x-clapf-",
    "x-claws-", "x-cloudmark-", "x-clx-", "x-cm-analysis", "x-cm-score", "x-cmae-", "x-cnfs-analysis",
    "x-crm114-", "x-ctch-", "x-cyren-", "x-cyrus-", "x-dbox-", "x-dcc-", "x-drweb-", "x-eavas", "x-eset",
    "x-evolution", "x-f-secure-", "x-feas-", "x-fetchmail-", "x-fireeye", "x-fortimail-", "x-fuglu-",
    "x-getmail-", "x-gfi", "x-gm-phishy", "x-gmail-", "x-gnus-", "x-greylist", "x-ham-report", "x-hammie-",
    "x-haraka-", "x-hmailserver-", "x-icl-", "x-imap", "x-imss-", "x-incoming", "x-ipas-", "x-ironport",
    "x-junk", "x-kaspersky", "x-klms-", "x-kse-", "x-label", "x-mailcleaner-", "x-mailcontrol-",
    "x-mailfoundry", "x-mantsh", "x-mdav-", "x-me-authentication-results", "x-me-cm", "x-me-vs",
    "x-message-delivery", "x-mimecast-bulk", "x-mimecast-impersonation", "x-mimedefang-", "x-mirapoint-",
    "x-mlf-", "x-mozilla-", "x-mras", "x-ms-exchange-atp", "x-ms-exchange-forest-",
    "x-ms-exchange-organization-", "x-mutt-", "x-mxscan-", "x-nai-", "x-nas-", "x-nod32", "x-offlineimap",
    "x-pmx-", "x-pps-", "x-pstn-", "x-purgate", "x-pyzor", "x-qmail-scanner-", "x-quarantine-id", "x-razor",
    "x-rbl-", "x-recommended-action", "x-rmail-", "x-rspamd-", "x-sa-", "x-sea-", "x-sid-", "x-sieve",
    "x-smartermail-", "x-sophos-", "x-sta-", "x-starscan", "x-surgate-", "x-switch", "x-sylpheed-",
    "x-symantec", "x-symc-", "x-text-classification", "x-tm-as-", "x-tmase-", "x-ui-filterresults",
    "x-ui-out-filterresults", "x-uid", "x-univie-", "x-vade", "x-vipre-", "x-vm-", "x-vr-", "x-watchguard-",
    "x-whitelist", "x-wum-", "x-xfinity-v",
];
/// What is somewhere in a name that begins with `x-`.
const WORDS: [&str; 3] = ["-metrics", "mailscanner", "spam"];

fn is_dated(name: &str) -> bool {
    matches!(name, "received" | "x-received")
}

fn is_trace(name: &str) -> bool {
    is_dated(name)
        || matches!(
            name,
            "x-originating-ip"
                | "x-sender-ip"
                | "received-spf"
                | "authentication-results"
                | "arc-authentication-results"
                | "authentication-results-original"
                | "x-original-authentication-results"
        )
}

#[rustfmt::skip]
fn has_addresses(name: &str) -> bool {
    matches!(
        name,
        "from" | "to" | "cc" | "bcc" | "reply-to" | "sender" | "return-path" | "errors-to" | "delivered-to"
            | "x-original-to" | "envelope-to" | "resent-from" | "resent-to" | "x-envelope-from"
            | "disposition-notification-to" | "x-beenthere"
    )
}

#[rustfmt::skip]
fn is_identifier(name: &str) -> bool {
    matches!(
        name,
        "message-id" | "in-reply-to" | "references" | "content-id" | "resent-message-id" | "x-message-id"
    )
}

#[rustfmt::skip]
fn is_list_machinery(name: &str) -> bool {
    matches!(
        name,
        "list-help" | "list-post" | "list-subscribe" | "list-unsubscribe" | "list-archive" | "list-owner"
            | "list-unsubscribe-post" | "x-mailman-version" | "x-loop" | "x-original-date"
    )
}

#[rustfmt::skip]
fn is_sent(name: &str) -> bool {
    matches!(
        name,
        "from" | "to" | "cc" | "reply-to" | "subject" | "date" | "message-id" | "in-reply-to" | "references"
    )
}

#[rustfmt::skip]
fn is_calendar(word: &str) -> bool {
    matches!(
        word,
        "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | "jan" | "feb" | "mar" | "apr" | "may" | "jun"
            | "jul" | "aug" | "sep" | "oct" | "nov" | "dec"
    )
}

/// True unless NO_EVIDENCE has the field.
pub fn counts_as_evidence(name: &str) -> bool {
    // Only the last beginning that is not after the name can begin it.
    let place = BEGINNINGS.partition_point(|beginning| *beginning <= name);
    let beginning = place.checked_sub(1).and_then(|before| BEGINNINGS.get(before));
    let is_note = NAMES.binary_search(&name).is_ok()
        || beginning.is_some_and(|beginning| name.starts_with(beginning))
        || (name.starts_with("x-") && WORDS.iter().any(|word| name.contains(word)));
    !is_note
}

/// The name of a field as tokens have it; "" if the field does not count.
fn find_token_name(name: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    if !counts_as_evidence(name) {
        ""
    } else if !name.bytes().all(is_plain) || name.len() > MAX_TOKEN_NAME {
        ODD
    } else {
        name
    }
}

/// The fields of a message as tokens, and what else their names say.
pub struct Header {
    pub tokens: Words,
    pub sent: Words,
    /// Which field follows which: tokens of the structure view.
    pub order: Words,
    /// Size of the message without the fields that do not count.
    pub size_bytes: usize,
}

/// Tokens of all fields that count, and those of them that the sender has written.
pub fn tokenize_header(message: &Message) -> Read<Header> {
    let mut header = Header {
        tokens: Words::default(),
        sent: Words::default(),
        order: Words::default(),
        size_bytes: message.body_bytes,
    };
    let mut places = Vec::new();
    for (number, field) in message.headers.iter().enumerate() {
        let (name, text) = field;
        let shown = find_token_name(name);
        if !shown.is_empty() {
            header.size_bytes += message.header_sizes.get(number).copied().unwrap_or(0);
            if !is_list_machinery(name) && !is_dated(name) && !is_added(name) {
                places.push(shown);
            }
        }
        let before = header.tokens.len();
        tokenize_field(field, shown, &mut header.tokens)?;
        if is_sent(name) {
            (before..header.tokens.len()).for_each(|number| header.sent.push(header.tokens.get(number)));
        }
        if name == "message-id" {
            header.sent.push(text);
        }
    }
    for pair in places.get(..MAX_ORDER).unwrap_or(&places).windows(2) {
        if let [first, second] = pair {
            header.order.push_pieces(&["order=", first, ">", second]);
        }
    }
    header.tokens.truncate(MAX_TOKENS);
    header.sent.truncate(MAX_TOKENS);
    Ok(header)
}

/// Added on the way, so their place says nothing of the sender's program.
fn is_added(name: &str) -> bool {
    matches!(name, "delivered-to" | "return-path" | "errors-to" | "x-beenthere")
}

fn tokenize_field((name, text): &Field, shown: &str, found: &mut Words) -> Read<()> {
    if shown.is_empty() {
        return Ok(());
    }
    found.push_pieces(&["field:", shown]);
    if shown == ODD {
        return Ok(());
    }
    let prefix = format!("{name}:");
    if is_trace(name) {
        let before_time = if is_dated(name) { rpartition(text, ";").0 } else { "" };
        tokenize_chunks(name, &prefix, if before_time.is_empty() { text } else { before_time }, found);
    } else if has_addresses(name) {
        tokenize_chunks(name, &prefix, text, found);
        tokenize_beyond_ascii(&prefix, text, found)?;
    } else if is_identifier(name) {
        tokenize_chunks(name, &prefix, text, found);
    } else if is_list_machinery(name) {
        // All nine say what List-Id says.
    } else if name.ends_with("date") || name.ends_with("time") {
        tokenize_date(&prefix, text, found)?;
    } else if name == "subject" {
        tokenize_subject(text, found)?;
    } else {
        let cut = if is_longer(text, MIN_CODED - 1) { remove_codes(text) } else { None };
        let words = split_words(cut.as_deref().unwrap_or(text), MAX_FIELD_WORDS)?;
        found.extend(&words, &prefix, MAX_FIELD_WORDS);
    }
    Ok(())
}

/// Words of an address field that are not ASCII as it is written.
fn tokenize_beyond_ascii(prefix: &str, text: &str, found: &mut Words) -> Read<()> {
    if !text.is_ascii() {
        let foreign: Vec<&str> = split_space(text).filter(|piece| !piece.is_ascii()).collect();
        found.extend(&split_words(&foreign.join(" "), MAX_FIELD_WORDS)?, prefix, MAX_FIELD_WORDS);
    }
    Ok(())
}

/// The text without signatures, keys and sealed notes: runs of base64.  None if it has none.
fn remove_codes(text: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for run in text.split(|one: char| !(one.is_ascii_alphanumeric() || matches!(one, '+' | '/' | '='))) {
        let end = at + run.len();
        if run.len() >= MIN_CODE && !is_of_one_kind(run) {
            kept.push(text.get(start..at)?);
            start = end;
        }
        at = end + text.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    if kept.is_empty() {
        return None;
    }
    kept.push(text.get(start..)?);
    Some(kept.join(" "))
}

/// True if `str.islower`, `isupper`, `isalpha` or `isdigit` is true of ASCII.
fn is_of_one_kind(run: &str) -> bool {
    let has_lower = run.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_upper = run.bytes().any(|byte| byte.is_ascii_uppercase());
    has_lower != has_upper
        || run.bytes().all(|byte| byte.is_ascii_alphabetic())
        || run.bytes().all(|byte| byte.is_ascii_digit())
}

/// The tokens of the chunks of a trace, address or identifier field.
fn tokenize_chunks(name: &str, prefix: &str, text: &str, found: &mut Words) {
    let mut chunk = String::new();
    let is_kept = |byte: &u8| byte.is_ascii() && look_up(&SPLIT, *byte) != b' ';
    let chunks = text.as_bytes().split(|byte| !is_kept(byte)).filter(|piece| !piece.is_empty());
    for piece in chunks.take(MAX_FIELD_WORDS) {
        chunk.clear();
        chunk.extend(piece.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
        let chunk = chunk.trim_matches(['.', '-', '_']);
        if is_trace(name) {
            tokenize_trace(chunk, prefix, found);
        } else if has_addresses(name) {
            tokenize_address(chunk, prefix, found);
        } else {
            tokenize_identifier(chunk, prefix, found);
        }
    }
}

/// Received and its kin: names and addresses with parents; queue numbers and times are dropped.
fn tokenize_trace(chunk: &str, prefix: &str, found: &mut Words) {
    if chunk.contains('@') {
        tokenize_address(chunk, prefix, found);
    } else if chunk.contains('.') {
        push_parents(chunk, prefix, found);
    } else if (2..=MAX_WORD).contains(&chunk.len()) && !is_calendar(chunk) {
        let has_digit = chunk.bytes().any(|byte| byte.is_ascii_digit());
        if !has_digit || chunk.starts_with("smtp") {
            found.push_pieces(&[prefix, chunk]);
        }
    }
}

/// An address as a whole, its local part and its host with parents; or a word of a display name.
fn tokenize_address(chunk: &str, prefix: &str, found: &mut Words) {
    let (local, has_at, host) = rpartition(chunk, "@");
    if !has_at {
        if chunk.contains('.') {
            push_parents(chunk, prefix, found);
        } else if (2..=MAX_WORD).contains(&chunk.len()) {
            found.push_pieces(&[prefix, chunk]);
        }
        return;
    }
    if chunk.len() > 2 * MAX_WORD {
        found.push_pieces(&[prefix, &make_skip_token(chunk)]);
    } else {
        found.push_pieces(&[prefix, chunk]);
        if !local.is_empty() {
            found.push_pieces(&[prefix, local, "@"]);
        }
    }
    push_parents(host, prefix, found);
}

/// Message identifiers: the shape of the part that the host made, and the host.
fn tokenize_identifier(chunk: &str, prefix: &str, found: &mut Words) {
    let (local, has_at, host) = rpartition(chunk, "@");
    found.push_pieces(&[prefix, &find_shape(if has_at { local } else { chunk })]);
    if has_at {
        push_parents(host, prefix, found);
    }
}

/// Runs of digits as 9, of letters as a, other characters as they are: 2002.a1b -> 9.a9a.
fn find_shape(text: &str) -> String {
    let mut shape = String::from("~");
    for one in first(text, SHAPED).chars() {
        let kind = match one {
            '0'..='9' => '9',
            'a'..='z' | 'A'..='Z' => 'a',
            _ if one.is_ascii() => one,
            _ => '?',
        };
        let is_first = shape.len() == 1;
        if (is_first || !shape.ends_with(kind)) && shape.len() <= MAX_SHAPE {
            shape.push(kind);
        }
    }
    shape
}

/// The time zone and the form of a date or time; day and hour say nothing of the sender.
fn tokenize_date(prefix: &str, text: &str, found: &mut Words) -> Read<()> {
    for piece in split_space_at_most(text, 10) {
        let Some(digits) = piece.strip_prefix(['+', '-']) else { continue };
        if is_digit(digits)? {
            found.push_pieces(&[prefix, first(piece, MAX_ZONE)]);
            break;
        }
    }
    let joined = split_space_at_most(&lower(text)?, 30).join("_");
    found.push_pieces(&[prefix, &find_shape(&joined)]);
    Ok(())
}

/// Words, pairs of words, and the marks of shouting: capitals, exclamation marks, long gaps.
fn tokenize_subject(text: &str, found: &mut Words) -> Read<()> {
    let words = split_words(text, MAX_FIELD_WORDS)?;
    found.extend(&words, "subject:", MAX_FIELD_WORDS);
    found.extend_pairs(&words, 0..words.len(), "subject:");
    if is_upper(text)? {
        found.push("subject:#capitals");
    }
    for (mark, token) in [("!", "subject:!"), ("?", "subject:?"), ("   ", "subject:#gap")] {
        if partition(text, mark).1 {
            found.push(token);
        }
    }
    if has_zero_width(text)? {
        found.push("subject:#zero-width");
    }
    Ok(())
}
