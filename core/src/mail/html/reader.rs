//! nbspam/mail/html/reader.py: what a person sees of a page of HTML, what is there and not seen, where it leads.

use super::entities::decode_references;
use super::styles::{is_screen, Around, Sheet, INHERITED, MOST, NORMAL, TINY, TRANSPARENT};
use super::tags::{Kind, Tag};
use crate::mail::message::{Html, Read, RARE};
use crate::python::call;
use crate::text::is_space;
use crate::tokens::characters::is_alnum;
use memchr::{memchr, memmem};
use std::collections::HashMap;
use std::rc::Rc;

const MAX_TAGS: usize = 12_000;
const MAX_REACH: usize = 100;
const MAX_SHEETS: usize = 100;
const NEAR: i32 = 20; // of a channel

/// Read an HTML text; one with a rare element or style is read by Python.
pub fn read_html(text: &str) -> Read<Html> {
    let is_rare = memchr(0, text.as_bytes()).is_some() || memmem::find(text.as_bytes(), b"--!>").is_some();
    let reader = Reader { text, ..Reader::default() };
    let found = if is_rare { Err(RARE) } else { reader.read() };
    match found {
        Err(RARE) => call("nbspam.mail.html.reader", "read_html", (text,)),
        found => found,
    }
}

/// What a text inherits: its properties, and what follows from them; see State in Python.
#[derive(Clone, Copy)]
struct State {
    values: [f64; INHERITED.len()],
    is_gone: bool, // by itself, or by an element around
    around: Around,
    is_hidden: bool,
    is_quoted: bool,
}

impl State {
    fn new(values: [f64; INHERITED.len()], is_gone: bool, around: Around) -> Self {
        let [quoted, visibility, size, colour, background] = values;
        let is_lost = is_invisible(colour, background);
        let is_hidden = is_gone || visibility == 0.0 || size <= TINY || is_lost;
        State { values, is_gone, around, is_hidden, is_quoted: quoted != 0.0 }
    }

    /// That of a page, around all elements.
    fn root() -> Self {
        State::new([0.0, 1.0, NORMAL, 0.0, f64::from(0xFFFFFF)], false, 0)
    }

    /// That inside an element.
    ///
    /// parents : see Sheet
    fn inside(self, tag: &Tag, parents: Around) -> Self {
        if !tag.has_look && self.around & parents == 0 {
            return self;
        }
        let mut values = self.values;
        for (value, own) in values.iter_mut().zip(tag.inherited) {
            *value = own.unwrap_or(*value);
        }
        let [_, _, size, ..] = &mut values;
        if *size < 0.0 {
            *size = (-*size * self.values[2]).min(MOST);
        }
        State::new(values, self.is_gone || tag.is_gone, self.around & !parents | tag.around)
    }
}

/// True if letters of this colour cannot be told from their background.
fn is_invisible(colour: f64, background: f64) -> bool {
    if colour < 0.0 || background < 0.0 {
        return colour == TRANSPARENT;
    }
    let (colour, background) = (colour as i32, background as i32);
    [16, 8, 0].iter().all(|shift| ((colour >> shift & 255) - (background >> shift & 255)).abs() <= NEAR)
}

/// One reading: the pieces of the text, the open elements, and what was found.
#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    end: usize, // of the piece that was last taken; a piece is what is between one `<` and the next
    html: Html,
    opened: Vec<(Rc<Tag>, State)>,              // and the state outside of each
    known: HashMap<(Around, &'a str), Rc<Tag>>, // by what is around, and by their text
    sheet: Sheet,
    sheets: usize,
    link: Option<String>,
    start: usize,     // where its text begins
    nothing: Rc<Tag>, // markup that is no element
}

impl<'a> Reader<'a> {
    fn take_piece(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.end..)?.strip_prefix('<')?;
        let length = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
        self.end += 1 + length;
        rest.get(..length)
    }

    /// Walk over the tags.
    fn read(mut self) -> Read<Html> {
        self.end = memchr(b'<', self.text.as_bytes()).unwrap_or(self.text.len());
        self.html.visible.push_str(&decode_references(self.text.get(..self.end).unwrap_or_default(), false)?);
        let mut state = State::root();
        let mut mark = None; // how much was visible where a word may have been split
        for _ in 0..MAX_TAGS {
            let Some(piece) = self.take_piece() else { break };
            let (tag, mut rest) = self.read_piece(piece, state.around)?;
            match tag.kind {
                Kind::Open => {
                    self.opened.push((Rc::clone(&tag), state));
                    state = state.inside(&tag, self.sheet.parents);
                    let is_joining = rest.is_empty() || state.is_hidden;
                    mark = is_joining.then_some(self.html.visible.len());
                }
                Kind::Close => state = self.end(&tag, state),
                Kind::Block => {
                    state = self.begin_block(&tag, state);
                    if state.is_gone {
                        mark = Some(self.html.visible.len());
                    }
                }
                Kind::Break => self.separate(state),
                Kind::Void => mark = Some(self.html.visible.len()),
                Kind::Raw => {
                    rest = self.take_raw(&tag, rest.len(), state)?;
                    mark = Some(self.html.visible.len());
                }
            }
            if tag.is_noted {
                self.note(&tag, state);
            }
            if !rest.is_empty() && !state.is_hidden {
                self.add_text(rest, state.is_quoted, mark)?;
            }
        }
        // All after the last tag that counts is text.
        self.html.visible.push_str(self.text.get(self.end..).unwrap_or_default());
        self.end_link();
        Ok(self.html)
    }

    /// Add a text between two tags.
    fn add_text(&mut self, text: &str, is_quoted: bool, mark: Option<usize>) -> Read<()> {
        let text = decode_references(text, false)?;
        let visible = &mut self.html.visible;
        if mark == Some(visible.len()) {
            if let (Some(before), Some(after)) = (visible.chars().next_back(), text.chars().next()) {
                self.html.joined += usize::from(is_alnum(after) && is_alnum(before));
            }
        }
        if is_quoted {
            self.html.quoted += text.matches('\n').count();
        }
        visible.push_str(&text);
        Ok(())
    }

    /// The state inside a block, which begins a new line.
    fn begin_block(&mut self, tag: &Rc<Tag>, state: State) -> State {
        let outside = self.end(tag, state);
        self.opened.push((Rc::clone(tag), outside));
        let inside = outside.inside(tag, self.sheet.parents);
        self.separate(inside);
        inside
    }

    /// End the innermost element that a tag ends, with all inside it; the state after it.
    fn end(&mut self, tag: &Tag, state: State) -> State {
        let reach = if tag.ends.is_empty() { 0 } else { MAX_REACH };
        let mut inner = state; // the state inside of the element that is looked at
        for index in (0..self.opened.len()).rev().take(reach) {
            let (element, outside) = &self.opened[index];
            let (name, kind, outside) = (element.name, element.kind, *outside);
            if tag.ends.contains(&name) {
                if kind == Kind::Block {
                    self.separate(inner);
                }
                self.opened.truncate(index);
                return outside;
            }
            if tag.stops.contains(&name) {
                break;
            }
            inner = outside;
        }
        if tag.name == "p" && !tag.is_start {
            self.separate(state); // that makes an empty paragraph
        }
        state
    }

    /// Begin a new line; not where nothing takes any place.
    fn separate(&mut self, state: State) {
        if !state.is_gone {
            self.html.visible.push('\n');
            self.html.quoted += usize::from(state.is_quoted);
        }
    }

    /// Note what a tag says in addition to its effect on text.
    fn note(&mut self, tag: &Tag, state: State) {
        self.html.images.extend(tag.pictures.iter().cloned());
        if !tag.alt.is_empty() {
            self.html.alts.push(tag.alt.clone());
        }
        if !tag.shown.is_empty() {
            self.add_inside(tag, state, &format!(" {}\n", tag.shown));
        }
        if tag.name == "a" {
            self.end_link();
            self.link.clone_from(&tag.link);
            self.start = self.html.visible.len();
        } else if let Some(link) = &tag.link {
            self.html.links.push((link.clone(), String::new()));
        }
    }

    /// Add a text that an element shows by itself.
    fn add_inside(&mut self, tag: &Tag, state: State, text: &str) {
        if !state.inside(tag, self.sheet.parents).is_hidden {
            self.html.visible.push_str(text);
        }
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            let text = self.html.visible.get(self.start..).unwrap_or_default();
            self.html.links.push((link, text.trim_matches(is_space).to_string()));
        }
    }

    /// The tag that a piece begins with, and the text after it.
    fn read_piece(&mut self, piece: &'a str, around: Around) -> Read<(Rc<Tag>, &'a str)> {
        if let Some((text, rest)) = split_at_end(piece) {
            if let Some(tag) = self.known.get(&(around, text)) {
                return Ok((Rc::clone(tag), rest));
            }
        }
        let first = piece.bytes().next();
        let letter = if first == Some(b'/') { piece.as_bytes().get(1).copied() } else { first };
        if letter.is_some_and(|letter| letter.is_ascii_alphabetic()) {
            return self.read_tag(piece, around);
        }
        let rest = match first {
            Some(b'!') => self.skip_declaration(piece),
            Some(b'?' | b'/') => self.skip_past(">", piece),
            _ => self.text.get(self.end - piece.len() - 1..self.end).unwrap_or_default(),
        };
        Ok((Rc::clone(&self.nothing), rest))
    }

    /// The text after a comment, or after another piece that begins with `!`.
    fn skip_declaration(&mut self, piece: &'a str) -> &'a str {
        let is_comment = piece.starts_with("!--");
        let word = piece.as_bytes().get(1..8).unwrap_or_default();
        self.html.comments += usize::from(is_comment || !word.eq_ignore_ascii_case(b"doctype"));
        if is_comment {
            self.skip_past("-->", piece.get(1..).unwrap_or_default())
        } else {
            self.skip_past(">", piece)
        }
    }

    fn read_tag(&mut self, piece: &'a str, around: Around) -> Read<(Rc<Tag>, &'a str)> {
        let Some((text, rest)) = self.read_whole_tag(piece) else {
            return Ok((Rc::clone(&self.nothing), ""));
        };
        let tag = Rc::new(Tag::read(text, &mut self.sheet, around)?);
        self.known.insert((around, text), Rc::clone(&tag));
        Ok((tag, rest))
    }

    /// The text of a tag and what follows; a `>` in quotes is no end, and without an end all is lost.
    fn read_whole_tag(&mut self, piece: &'a str) -> Option<(&'a str, &'a str)> {
        let is_even = |text: &str, quote: u8| text.bytes().filter(|byte| *byte == quote).count() % 2 == 0;
        if let Some((text, rest)) = split_at_end(piece) {
            if is_even(text, b'"') && is_even(text, b'\'') {
                return Some((text, rest));
            }
        }
        let start = self.end - piece.len();
        let mut quote = None;
        let mut last = b' ';
        let mut part = piece;
        loop {
            for (place, byte) in part.bytes().enumerate() {
                if quote.is_some() {
                    quote = quote.filter(|quote| *quote != byte);
                } else if byte == b'>' {
                    let end = self.end - part.len() + place;
                    return Some((self.text.get(start..end)?, part.get(place + 1..)?));
                } else if last == b'=' && matches!(byte, b'"' | b'\'') {
                    quote = Some(byte);
                }
                if byte > b' ' {
                    last = byte;
                }
            }
            part = self.take_piece()?;
        }
    }

    /// The text after a marker, in this piece or a later one.
    fn skip_past(&mut self, marker: &str, piece: &'a str) -> &'a str {
        let mut piece = piece;
        loop {
            if let Some((_, rest)) = piece.split_once(marker) {
                return rest;
            }
            let Some(next) = self.take_piece() else { return "" };
            piece = next;
        }
    }

    /// Take the content of an element without markup; the text after it.
    ///
    /// after : bytes of this piece after the start tag
    fn take_raw(&mut self, tag: &Tag, after: usize, state: State) -> Read<&'a str> {
        let name = tag.name;
        let is_fallback = matches!(name, "iframe" | "noembed" | "noframes");
        if is_fallback && self.opened.iter().rev().take(MAX_REACH).any(|(tag, _)| tag.name == "select") {
            return Err(RARE);
        }
        let start = self.end - after;
        let mut end = self.end;
        let mut rest = "";
        while let Some(piece) = self.take_piece() {
            if is_end_of(name, piece) {
                rest = split_at_end(piece).map_or("", |(_, rest)| rest);
                break;
            }
            end = self.end;
        }
        let content = self.text.get(start..end).unwrap_or_default();
        match name {
            "title" if self.html.title.is_empty() => {
                self.html.title = decode_references(content, false)?.trim_matches(is_space).to_string();
            }
            "style" if self.sheets < MAX_SHEETS && is_screen(&tag.media) => {
                self.sheets += 1;
                self.sheet.read(content)?;
                if self.sheet.asks_for_body() && !self.text.to_ascii_lowercase().contains("<body") {
                    return Err(RARE);
                }
                self.known.clear(); // tags mean something else from here on
            }
            "textarea" | "xmp" | "plaintext" => {
                self.add_inside(tag, state, &format!("\n{}\n", decode_references(content, false)?));
            }
            _ => {}
        }
        Ok(rest)
    }
}

/// What is before and after the first `>`.
fn split_at_end(piece: &str) -> Option<(&str, &str)> {
    let end = memchr(b'>', piece.as_bytes())?;
    Some((piece.get(..end)?, piece.get(end + 1..)?))
}

/// True if a piece begins with the end tag of an element without markup.
fn is_end_of(name: &str, piece: &str) -> bool {
    let Some(text) = piece.strip_prefix('/') else { return false };
    let is_same = text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    is_same && text.as_bytes().get(name.len()).is_none_or(|byte| b" \t\r\n\x0c/>".contains(byte))
}
