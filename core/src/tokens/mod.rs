//! nbspam/tokens/__init__.py: a mail becomes the tokens of each view.

mod armour;
pub mod bag;
pub mod characters;
mod headers;
mod measures;
mod structure;
mod unicode_words;
mod words;

use crate::limits::MAX_TOKENS;
use crate::mail::dates::find_date;
use crate::mail::message::{Raw, Read};
use crate::mail::parse;
use bag::{make_bigrams, sign_text, Tokens};

/// The tokens of a mail, at most MAX_TOKENS a view.
///
/// wanted : what is read in addition to the words, some of bigrams, raw, measures, signature, date
pub fn tokenize(raw: &Raw, wanted: &[String]) -> Read<Tokens> {
    let is_wanted = |name: &str| wanted.iter().any(|wanted| wanted == name);
    let message = &parse(raw)?;
    let header = headers::tokenize_header(message)?;
    let mut texts = structure::Texts::default();
    for part in &message.parts {
        texts.read_part(part)?;
    }
    texts.read_rest(&message.parts)?;
    let mut tokens = Tokens { header: header.tokens, sent: header.sent, ..Tokens::default() };
    tokens.body = std::mem::take(&mut texts.body);
    tokens.body.truncate(MAX_TOKENS);
    if is_wanted("bigrams") {
        tokens.bigrams = make_bigrams(&tokens.body);
    }
    if is_wanted("raw") {
        tokens.raw = structure::tokenize_raw(raw);
    }
    if is_wanted("measures") {
        tokens.measures = measures::tokenize_measures(message, &texts, header.size_bytes)?;
    }
    if is_wanted("date") {
        tokens.date = find_date(message)?;
    }
    // Those of the whole message come first, so that a flood of URLs does not push them out.
    tokens.structure = structure::tokenize_form(message, header.size_bytes);
    tokens.structure.extend(&header.order, MAX_TOKENS);
    tokens.structure.extend(&texts.structure, MAX_TOKENS);
    tokens.structure.truncate(MAX_TOKENS);
    if is_wanted("signature") {
        tokens.signature = sign_text(&tokens.body, &tokens.structure);
    }
    // A server may change the encoding.
    let is_written = |token: &&str| !token.starts_with(structure::ENCODING_MARK);
    texts.structure.iter().filter(is_written).take(MAX_TOKENS).for_each(|token| tokens.sent.push(token));
    Ok(tokens)
}
