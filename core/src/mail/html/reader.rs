//! nbspam/mail/html/reader.py: what a person sees of a page of HTML, what is there and not seen, where it leads.

use super::entities::decode_references;
use super::styles::{is_screen, Around, Property, Sheet, INHERITED, NORMAL, TINY, TRANSPARENT};
use super::tags::{Kind, Tag};
use crate::mail::message::{Html, LeftToPython, Read, RARE};
use crate::python::call;
use crate::text::is_space;
use crate::tokens::characters::is_alnum;
use memchr::{memchr, memmem};
use std::collections::{BTreeSet, HashMap};

const MAX_TAGS: usize = 12_000;
const MAX_REACH: usize = 100;
const MAX_SHEETS: usize = 100;
const NEAR: i32 = 20; // of a channel

/// Read an HTML text; one with a rare element or style is read by Python.
pub fn read_html(text: &str) -> Read<Html> {
    let is_rare = memchr(0, text.as_bytes()).is_some() || memmem::find(text.as_bytes(), b"--!>").is_some();
    let found = if is_rare { Err(RARE) } else { Reader::new(text).and_then(Reader::read) };
    match found {
        Err(RARE) => call("nbspam.mail.html.reader", "read_html", (text,)),
        found => found,
    }
}

/// What a text inherits: its properties, and what follows from them; see State in Python.
#[derive(Clone, Copy)]
struct State {
    values: [f64; INHERITED],
    is_gone: bool, // by itself, or by an element around
    around: Around,
    is_hidden: bool,
    is_quoted: bool,
}

impl State {
    fn new(values: [f64; INHERITED], is_gone: bool, around: Around) -> Self {
        let get = |property: Property| values.get(property as usize).copied().unwrap_or_default();
        let is_seen = get(Property::Visibility) != 0.0 && get(Property::Size) > TINY;
        let is_lost = is_invisible(get(Property::Colour) as i32, get(Property::Background) as i32);
        State {
            values,
            is_gone,
            around,
            is_hidden: is_gone || !is_seen || is_lost,
            is_quoted: get(Property::Quoted) != 0.0,
        }
    }

    /// That of a page, around all elements.
    fn root() -> Self {
        let mut values = [0.0; INHERITED];
        for (property, value) in [
            (Property::Visibility, 1.0),
            (Property::Size, NORMAL),
            (Property::Background, f64::from(0xFFFFFF)),
        ] {
            if let Some(place) = values.get_mut(property as usize) {
                *place = value;
            }
        }
        State::new(values, false, 0)
    }

    /// That inside an element.
    fn inside(&self, tag: &Tag, parents: Around) -> Self {
        let mut values = self.values;
        for (value, own) in values.iter_mut().zip(tag.look.inherited) {
            *value = own.unwrap_or(*value);
        }
        State::new(values, self.is_gone || tag.look.is_gone, self.around & !parents | tag.look.around)
    }
}

/// True if letters of this colour cannot be told from their background.
fn is_invisible(colour: i32, background: i32) -> bool {
    if colour < 0 || background < 0 {
        return colour == TRANSPARENT;
    }
    [16, 8, 0].iter().all(|shift| ((colour >> shift & 255) - (background >> shift & 255)).abs() <= NEAR)
}

/// The pieces between one `<` and the next.
struct Walk<'a> {
    text: &'a str,
    end: usize, // of the last piece
}

impl<'a> Walk<'a> {
    /// What is left, with its `<`; "" after the last piece.
    fn rest(&self) -> &'a str {
        self.text.get(self.end..).unwrap_or_default()
    }

    fn from(&self, start: usize) -> &'a str {
        self.text.get(start..self.end).unwrap_or_default()
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest().strip_prefix('<')?;
        let length = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
        self.end += 1 + length;
        rest.get(..length)
    }
}

/// `tag` and `state` are places in the lists of those of the page.
type TagPlace = usize;
type StatePlace = usize;
const NOTHING: TagPlace = 0; // markup that is no element

/// One reading: the pieces of the text, the open elements, and what was found.
struct Reader<'a> {
    walk: Walk<'a>,
    html: Html,
    tags: Vec<Tag>,
    states: Vec<State>,
    opened: Vec<(TagPlace, StatePlace)>, // and the state outside of each
    known: HashMap<(Around, &'a str), TagPlace>, // by what is around, and by their text
    inside: HashMap<(StatePlace, TagPlace), StatePlace>, // the state inside a tag that changes it
    colours: BTreeSet<u32>,
    sheet: Sheet,
    sheets: usize,
    link: Option<String>,
    start: usize, // where its text begins
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Read<Self> {
        let mut sheet = Sheet::new();
        let nothing = Tag::read("/wbr", &mut sheet, 0)?;
        Ok(Reader {
            walk: Walk { text, end: 0 },
            html: Html::default(),
            tags: vec![nothing],
            states: vec![State::root()],
            opened: Vec::new(),
            known: HashMap::new(),
            inside: HashMap::new(),
            colours: BTreeSet::new(),
            sheet,
            sheets: 0,
            link: None,
            start: 0,
        })
    }

    fn tag(&self, tag: TagPlace) -> Read<&Tag> {
        self.tags.get(tag).ok_or(LeftToPython("html-place"))
    }

    fn state(&self, state: StatePlace) -> Read<&State> {
        self.states.get(state).ok_or(LeftToPython("html-place"))
    }

    /// Walk over the tags.
    fn read(mut self) -> Read<Html> {
        let first = memchr(b'<', self.walk.text.as_bytes()).unwrap_or(self.walk.text.len());
        self.walk.end = first;
        self.html.visible.push_str(&decode_references(self.walk.from(0), false)?);
        let mut state = 0;
        let mut mark = None; // how much was visible where a word may have been split
        for _ in 0..MAX_TAGS {
            let Some(piece) = self.walk.next() else { break };
            let (place, mut rest) = self.read_piece(piece, state)?;
            let tag = self.tag(place)?;
            let (kind, is_noted) = (tag.kind, tag.is_noted);
            self.html.tags += usize::from(tag.is_start);
            match kind {
                Kind::Open => {
                    self.opened.push((place, state));
                    state = self.enter(state, place)?;
                    let is_joining = rest.is_empty() || self.state(state)?.is_hidden;
                    mark = is_joining.then_some(self.html.visible.len());
                }
                Kind::Close => state = self.end(place, state)?,
                Kind::Block => {
                    state = self.begin_block(place, state)?;
                    if self.state(state)?.is_gone {
                        mark = Some(self.html.visible.len());
                    }
                }
                Kind::Break => self.separate(state)?,
                Kind::Void => mark = Some(self.html.visible.len()),
                Kind::Raw => {
                    rest = self.take_raw(place, rest.len(), state)?;
                    mark = Some(self.html.visible.len());
                }
            }
            if is_noted {
                self.note(place, state)?;
            }
            if !rest.is_empty() {
                self.add_text(rest, state, mark)?;
            }
        }
        self.finish()
    }

    /// Add a text between two tags.
    fn add_text(&mut self, text: &str, state: StatePlace, mark: Option<usize>) -> Read<()> {
        let state = *self.state(state)?;
        let text = decode_references(text, false)?;
        if state.is_hidden {
            self.html.hidden.push_str(&text);
            return Ok(());
        }
        let visible = &mut self.html.visible;
        if mark == Some(visible.len()) {
            let (before, after) = (visible.chars().next_back(), text.chars().next());
            let is_joined = is_word(after)? && is_word(before)?;
            self.html.joined += usize::from(is_joined);
        }
        if state.is_quoted {
            self.html.quoted += text.matches('\n').count();
        }
        visible.push_str(&text);
        Ok(())
    }

    /// The state inside a block, which begins a new line.
    fn begin_block(&mut self, tag: TagPlace, state: StatePlace) -> Read<StatePlace> {
        let outside = self.end(tag, state)?;
        self.opened.push((tag, outside));
        let inside = self.enter(outside, tag)?;
        self.separate(inside)?;
        Ok(inside)
    }

    /// What was found, with all after the last tag that counts as text.
    fn finish(mut self) -> Read<Html> {
        self.html.visible.push_str(self.walk.rest());
        self.end_link();
        let mut html = self.html;
        html.colours = self.colours.iter().map(|colour| format!("#{colour:06x}")).collect();
        Ok(html)
    }

    /// The state inside an element.
    fn enter(&mut self, state: StatePlace, tag: TagPlace) -> Read<StatePlace> {
        let parents = self.sheet.parents;
        if self.tag(tag)?.look.is_empty() && self.state(state)?.around & parents == 0 {
            return Ok(state);
        }
        if let Some(inside) = self.inside.get(&(state, tag)) {
            return Ok(*inside);
        }
        let found = self.state(state)?.inside(self.tag(tag)?, parents);
        let inside = self.states.len();
        self.states.push(found);
        self.inside.insert((state, tag), inside);
        Ok(inside)
    }

    /// End the innermost element that a tag ends, with all inside it; the state after it.
    fn end(&mut self, tag: TagPlace, state: StatePlace) -> Read<StatePlace> {
        let tag = self.tag(tag)?;
        let (ends, stops) = (tag.ends, tag.stops);
        let is_end_of_paragraph = tag.name.text == "p" && !tag.is_start;
        let reach = if ends == 0 { 0 } else { MAX_REACH };
        let mut inner = state; // the state inside of the element that is looked at
        for index in (0..self.opened.len()).rev().take(reach) {
            let Some((each, outside)) = self.opened.get(index).copied() else { break };
            let element = self.tag(each)?;
            let bit = element.name.bit;
            if bit & ends != 0 {
                if element.kind == Kind::Block {
                    self.separate(inner)?;
                }
                self.opened.truncate(index);
                return Ok(outside);
            }
            if bit & stops != 0 {
                break;
            }
            inner = outside;
        }
        if is_end_of_paragraph {
            self.separate(state)?; // that makes an empty paragraph
        }
        Ok(state)
    }

    /// Begin a new line; not in the visible text where nothing takes any place.
    fn separate(&mut self, state: StatePlace) -> Read<()> {
        let state = *self.state(state)?;
        if state.is_hidden {
            self.html.hidden.push('\n');
        }
        if !state.is_gone {
            self.html.visible.push('\n');
            self.html.quoted += usize::from(state.is_quoted);
        }
        Ok(())
    }

    /// Note what a tag says in addition to its effect on text.
    fn note(&mut self, place: TagPlace, state: StatePlace) -> Read<()> {
        let Some(tag) = self.tags.get(place) else { return Ok(()) };
        self.colours.extend(&tag.colours);
        self.html.images.extend(tag.pictures.iter().cloned());
        if !tag.alt.is_empty() {
            self.html.alts.push(tag.alt.clone());
        }
        let (name, link) = (tag.name.text, tag.link.clone());
        if !tag.shown.is_empty() {
            let text = format!(" {}\n", tag.shown);
            self.add_inside(place, state, &text)?;
        }
        if name == "a" {
            self.end_link();
            self.link = link;
            self.start = self.html.visible.len();
        } else if let Some(link) = link {
            self.html.links.push((link, String::new()));
        }
        Ok(())
    }

    /// Add a text that an element shows by itself.
    fn add_inside(&mut self, tag: TagPlace, state: StatePlace, text: &str) -> Read<()> {
        let inside = self.enter(state, tag)?;
        let is_hidden = self.state(inside)?.is_hidden;
        let found = if is_hidden { &mut self.html.hidden } else { &mut self.html.visible };
        found.push_str(text);
        Ok(())
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            let text = self.html.visible.get(self.start..).unwrap_or_default();
            self.html.links.push((link, text.trim_matches(is_space).to_string()));
        }
    }

    /// The tag that a piece begins with, and the text after it.
    fn read_piece(&mut self, piece: &'a str, state: StatePlace) -> Read<(TagPlace, &'a str)> {
        if let Some((text, rest)) = split_at_end(piece) {
            if let Some(tag) = self.known.get(&(self.state(state)?.around, text)) {
                return Ok((*tag, rest));
            }
        }
        let first = piece.bytes().next();
        if first == Some(b'!') {
            return Ok((NOTHING, self.skip_declaration(piece)));
        }
        let letter = if first == Some(b'/') { piece.as_bytes().get(1).copied() } else { first };
        if letter.is_some_and(|letter| letter.is_ascii_alphabetic()) {
            return self.read_tag(piece, state);
        }
        if matches!(first, Some(b'?' | b'/')) {
            return Ok((NOTHING, self.skip_past(">", piece)));
        }
        let start = self.walk.end - piece.len() - 1;
        Ok((NOTHING, self.walk.from(start)))
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

    fn read_tag(&mut self, piece: &'a str, state: StatePlace) -> Read<(TagPlace, &'a str)> {
        let Some((text, rest)) = self.read_whole_tag(piece) else { return Ok((NOTHING, "")) };
        let around = self.state(state)?.around;
        let tag = Tag::read(text, &mut self.sheet, around)?;
        let place = self.tags.len();
        self.tags.push(tag);
        self.known.insert((around, text), place);
        Ok((place, rest))
    }

    /// The text of a tag and what follows; a `>` in quotes is no end, and without an end all is lost.
    fn read_whole_tag(&mut self, piece: &'a str) -> Option<(&'a str, &'a str)> {
        let is_even = |text: &str, quote: u8| text.bytes().filter(|byte| *byte == quote).count() % 2 == 0;
        if let Some((text, rest)) = split_at_end(piece) {
            if is_even(text, b'"') && is_even(text, b'\'') {
                return Some((text, rest));
            }
        }
        let start = self.walk.end - piece.len();
        let mut quote = None;
        let mut last = b' ';
        let mut part = piece;
        loop {
            for (place, byte) in part.bytes().enumerate() {
                if quote.is_some() {
                    quote = quote.filter(|quote| *quote != byte);
                } else if byte == b'>' {
                    let end = self.walk.end - part.len() + place;
                    return Some((self.walk.text.get(start..end)?, part.get(place + 1..)?));
                } else if last == b'=' && matches!(byte, b'"' | b'\'') {
                    quote = Some(byte);
                }
                if byte > b' ' {
                    last = byte;
                }
            }
            part = self.walk.next()?;
        }
    }

    /// The text after a marker, in this piece or a later one.
    fn skip_past(&mut self, marker: &str, piece: &'a str) -> &'a str {
        let mut piece = piece;
        loop {
            if let Some((_, rest)) = piece.split_once(marker) {
                return rest;
            }
            let Some(next) = self.walk.next() else { return "" };
            piece = next;
        }
    }

    /// Take the content of an element without markup; the text after it.
    ///
    /// after : bytes of this piece after the start tag
    fn take_raw(&mut self, tag: TagPlace, after: usize, state: StatePlace) -> Read<&'a str> {
        let (name, is_read) = (self.tag(tag)?.name.text, is_screen(&self.tag(tag)?.media));
        let mut around =
            self.opened.iter().rev().take(MAX_REACH).filter_map(|(each, _)| self.tags.get(*each));
        if matches!(name, "iframe" | "noembed" | "noframes") && around.any(|each| each.name.text == "select")
        {
            return Err(RARE);
        }
        let start = self.walk.end - after;
        let mut end = self.walk.end;
        let mut rest = "";
        while let Some(piece) = self.walk.next() {
            if is_end_of(name, piece) {
                rest = split_at_end(piece).map_or("", |(_, rest)| rest);
                break;
            }
            end = self.walk.end;
        }
        let content = self.walk.text.get(start..end).unwrap_or_default();
        match name {
            "title" if self.html.title.is_empty() => {
                self.html.title = decode_references(content, false)?.trim_matches(is_space).to_string();
            }
            "style" if self.sheets < MAX_SHEETS && is_read => {
                self.sheets += 1;
                self.sheet.read(content)?;
                if self.sheet.asks_for_body() && !self.walk.text.to_ascii_lowercase().contains("<body") {
                    return Err(RARE);
                }
                self.known.clear(); // tags mean something else from here on
            }
            "textarea" | "xmp" | "plaintext" => {
                self.add_inside(tag, state, &format!("\n{}\n", decode_references(content, false)?))?;
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

fn is_word(character: Option<char>) -> Read<bool> {
    character.map_or(Ok(false), is_alnum)
}
