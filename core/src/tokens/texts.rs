//! nbspam/tokens/texts.py: the texts of a message, read one after another.

use super::bag::Words;
use super::structure::{cut_urls, find_host, read_url, shorten, tokenize_page, tokenize_part, MAX_LINKS};
use super::words::{has_zero_width, split_words};
use crate::limits::MAX_TOKENS;
use crate::mail::html::read_html;
use crate::mail::message::{Html, Part, Read};
use crate::python::call;
use crate::text::{find_runs, lower, partition};
use std::borrow::Cow;
use std::collections::HashSet;

const LONG_LINE: usize = 60; // of base64; programs wrap it at 60 to 76 characters

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
        if has_zero_width(&text)? {
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
        if has_long_line(&text) {
            let bare: String = call("nbspam.tokens.armour", "remove_armour", (text.as_ref(),))?;
            split_words(&bare, limit, "", &mut self.body)?;
        } else {
            split_words(&text, limit, "", &mut self.body)?;
        }
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

/// True if a text may have a line of base64, whatever is beyond ASCII in it.
fn has_long_line(text: &str) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let has_run = |text: &[u8]| find_runs(text, LONG_LINE, is_base64).next().is_some();
    if text.is_ascii() {
        return has_run(text.as_bytes());
    }
    has_run(&text.bytes().filter(u8::is_ascii).collect::<Vec<u8>>())
}

/// True if a link's text is the name of a host with other last two labels than the host it leads to.
fn disagrees(host: &str, text: &str) -> Read<bool> {
    let shown = find_host(text)?;
    if text.contains('@') || shown.contains(' ') || !shown.trim_matches('.').contains('.') {
        return Ok(false);
    }
    Ok(!host.rsplit('.').take(2).eq(shown.rsplit('.').take(2)))
}
