//! nbspam/mail/html/reader.py: a page of HTML -> Html.

use super::entities::decode_references;
use super::styles::{drawing, is_screen, Marks, Properties, Sheet, NORMAL, TINY, TRANSPARENT};
use super::tags::{resolve, Kind, Look, Tag};
use crate::mail::message::{Html, Read};
use crate::tokens::characters::is_alnum;
use crate::tokens::text::{first, is_space, partition};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::iter::once;
use std::rc::Rc;
use std::str::Split;

const MAX_TAGS: usize = 12_000; // what follows the last one is taken for text
const MAX_REACH: usize = 100; // open elements that are looked at in search of one to end
const MAX_SHEETS: usize = 100; // style elements that are read
const MAX_RESOLVED: usize = 300; // links, and pictures, that are resolved by the base of the page
const MAX_REMEMBERED_TAGS: usize = 8_000; // tags known by their text
const MAX_REMEMBERED_TAG: usize = 300; // bytes
const NEAR: i64 = 20; // of a channel
const TURN: &str = "\u{202e}";
const TURN_BACK: &str = "\u{202c}";

thread_local! {
    static REMEMBERED: RefCell<HashMap<String, Rc<Tag>>> = RefCell::new(HashMap::new());
}

/// What a text inherits, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Values {
    gone: bool,
    shut: bool,
    quoted: bool,
    visibility: String,
    size: u64, // the bits of a float, which is no key
    colour: i64,
    background: i64,
    around: usize, // place in Reader.arounds
    leftward: bool,
    is_override: bool,
}

/// The state of a text: hidden, nobody sees it; gone, it does not even take a place.
#[derive(Debug)]
struct State {
    values: Values,
    gone: bool,
    hidden: bool,
    turned: bool,
}

impl State {
    fn new(values: Values) -> State {
        let gone = values.gone || values.shut;
        let is_seen = !matches!(values.visibility.as_str(), "hidden" | "collapse")
            && f64::from_bits(values.size) > TINY;
        State {
            gone,
            hidden: gone || !is_seen || is_invisible(values.colour, values.background),
            turned: values.is_override && values.leftward,
            values,
        }
    }
}

/// True if letters of this colour cannot be told from their background.
fn is_invisible(colour: i64, background: i64) -> bool {
    if colour < 0 || background < 0 {
        return colour == TRANSPARENT;
    }
    [16, 8, 0].iter().all(|shift| ((colour >> shift & 255) - (background >> shift & 255)).abs() <= NEAR)
}

/// Read an HTML text.
pub fn read_html(text: &str) -> Read<Html> {
    let text = if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { Cow::Borrowed(text) };
    Reader::new(&text)?.read()
}

/// One reading: the pieces of the text, the open elements, and what was found.
///
/// states : all that were met; a state is its place here, which `places` finds by its values
/// inside : the state inside a tag, by the state outside and the tag's address
/// known  : tags by their text, for each set of marks around
struct Reader<'a> {
    walk: Split<'a, char>,
    html: Html,
    visible: Vec<Cow<'a, str>>,
    hidden: Vec<Cow<'a, str>>,
    opened: Vec<Rc<Tag>>,
    before: Vec<usize>,
    states: Vec<State>,
    places: HashMap<Values, usize>,
    inside: HashMap<(usize, *const Tag), (usize, Rc<Tag>)>,
    arounds: Vec<Marks>,
    around_places: HashMap<Marks, usize>,
    known: HashMap<usize, HashMap<String, Rc<Tag>>>,
    nothing: Rc<Tag>,
    sheet: Sheet,
    sheets: usize,
    link: Option<String>,
    start: usize,
    base: Option<String>,
    colours: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Read<Reader<'a>> {
        let mut walk = text.split('<');
        let first = decode_references(walk.next().unwrap_or_default(), false)?;
        let root = Values {
            gone: false,
            shut: false,
            quoted: false,
            visibility: "visible".to_string(),
            size: NORMAL.to_bits(),
            colour: 0,
            background: 0xFFFFFF,
            around: 0,
            leftward: false,
            is_override: false,
        };
        Ok(Reader {
            walk,
            html: Html::default(),
            visible: vec![first],
            hidden: Vec::new(),
            opened: Vec::new(),
            before: Vec::new(),
            places: HashMap::from([(root.clone(), 0)]),
            states: vec![State::new(root)],
            inside: HashMap::new(),
            arounds: vec![Marks::new()],
            around_places: HashMap::from([(Marks::new(), 0)]),
            known: HashMap::new(),
            nothing: Rc::new(Tag::nothing()),
            sheet: Sheet::new(),
            sheets: 0,
            link: None,
            start: 0,
            base: None,
            colours: BTreeSet::new(),
        })
    }

    fn state(&self, place: usize) -> &State {
        &self.states[place]
    }

    /// Walk over the tags.
    fn read(mut self) -> Read<Html> {
        let mut state = 0;
        let mut mark = None; // how much was visible where a word may have been split
        for _ in 0..MAX_TAGS {
            let Some(piece) = self.walk.next() else { break };
            let (tag, mut rest) = self.find_tag(piece, state)?;
            self.html.tags += usize::from(tag.is_start);
            match tag.kind {
                Kind::Open => {
                    self.opened.push(Rc::clone(&tag));
                    self.before.push(state);
                    state = self.enter(state, &tag);
                    let may_split = rest.is_empty() || self.state(state).hidden;
                    mark = may_split.then_some(self.visible.len());
                }
                Kind::Close => state = self.close(&tag, state),
                Kind::Block => {
                    state = self.begin_block(&tag, state);
                    if self.state(state).gone {
                        mark = Some(self.visible.len());
                    }
                }
                Kind::Break => self.separate(state),
                Kind::Void | Kind::Raw => {
                    if tag.kind == Kind::Raw {
                        rest = Cow::Borrowed(self.take_raw(&tag, rest, state)?);
                    }
                    mark = Some(self.visible.len());
                }
            }
            if tag.is_noted {
                self.note(&tag, state);
            }
            if !rest.is_empty() {
                self.add_text(rest, state, mark)?;
            }
        }
        self.finish()
    }

    /// The tag that a piece begins with, and the text after it.
    fn find_tag(&mut self, piece: &'a str, state: usize) -> Read<(Rc<Tag>, Cow<'a, str>)> {
        let (text, is_ended, rest) = partition(piece, ">");
        if is_ended {
            let known = self.known.get(&self.state(state).values.around).and_then(|tags| tags.get(text));
            if let Some(tag) = known {
                return Ok((Rc::clone(tag), Cow::Borrowed(rest)));
            }
        }
        self.read_tag(piece, state)
    }

    fn close(&mut self, tag: &Tag, state: usize) -> usize {
        let is_last = self.opened.last().is_some_and(|last| last.name == tag.name && last.kind == Kind::Open);
        if is_last {
            self.opened.pop();
            return self.before.pop().unwrap_or(state);
        }
        self.end(tag, state)
    }

    /// Add the text after a tag.  mark : see read
    fn add_text(&mut self, text: Cow<'a, str>, state: usize, mark: Option<usize>) -> Read<()> {
        let text = match text {
            Cow::Borrowed(text) => decode_references(text, false)?,
            Cow::Owned(text) => Cow::Owned(decode_references(&text, false)?.into_owned()),
        };
        if self.state(state).hidden {
            self.hidden.push(text);
            return Ok(());
        }
        if mark == Some(self.visible.len()) {
            let last = self.visible.last().and_then(|before| before.chars().next_back());
            if is_word_character(text.chars().next())? && is_word_character(last)? {
                self.html.joined += 1;
            }
        }
        let State { turned: is_turned, values: Values { quoted, .. }, .. } = *self.state(state);
        if quoted {
            self.html.quoted += text.matches('\n').count();
        }
        self.visible.push(if is_turned {
            Cow::Owned(format!("{TURN}{}{TURN_BACK}", text.replace('\n', " ")))
        } else {
            text
        });
        Ok(())
    }

    /// The state inside a block, which begins a new line.
    fn begin_block(&mut self, tag: &Rc<Tag>, state: usize) -> usize {
        let state = self.end(tag, state);
        self.opened.push(Rc::clone(tag));
        self.before.push(state);
        let state = self.enter(state, tag);
        self.separate(state);
        state
    }

    /// What was found, with all after the last tag that counts as text.
    fn finish(mut self) -> Read<Html> {
        for piece in self.walk.by_ref() {
            self.visible.push(Cow::Owned(format!("<{piece}")));
        }
        self.end_link();
        let mut html = self.html;
        html.visible = self.visible.concat();
        html.hidden = self.hidden.concat();
        html.colours = self.colours.into_iter().collect();
        if let Some(base) = self.base.filter(|base| !base.is_empty()) {
            html.links.truncate(MAX_RESOLVED);
            html.images.truncate(MAX_RESOLVED);
            for (target, _) in &mut html.links {
                *target = resolve(&base, target)?;
            }
            for source in &mut html.images {
                *source = resolve(&base, source)?;
            }
        }
        Ok(html)
    }

    /// The state inside an element.
    fn enter(&mut self, state: usize, tag: &Rc<Tag>) -> usize {
        let Some(look) = &tag.look else { return state };
        let key = (state, Rc::as_ptr(tag));
        if let Some((inside, _)) = self.inside.get(&key) {
            return *inside;
        }
        let values = self.change_values(state, look);
        let place = *self.places.entry(values.clone()).or_insert(self.states.len());
        if place == self.states.len() {
            self.states.push(State::new(values));
        }
        self.inside.insert(key, (place, Rc::clone(tag))); // the tag lives as long as its address is a key
        place
    }

    fn change_values(&mut self, state: usize, look: &Look) -> Values {
        let outer = &self.states[state].values;
        let Properties { colour, background, size, is_override, leftward, visibility, shut, quoted, .. } =
            &look.values;
        let mut around = outer.around;
        if !look.around.is_empty() {
            let marks: Marks = self.arounds[around].union(&look.around).cloned().collect();
            around = *self.around_places.entry(marks.clone()).or_insert(self.arounds.len());
            if around == self.arounds.len() {
                self.arounds.push(marks);
            }
        }
        Values {
            gone: outer.gone || look.is_gone || (outer.shut && *shut == Some(true)),
            shut: shut.unwrap_or(outer.shut),
            quoted: quoted.unwrap_or(outer.quoted),
            visibility: visibility.clone().unwrap_or_else(|| outer.visibility.clone()),
            size: size.map_or(outer.size, f64::to_bits),
            colour: colour.unwrap_or(outer.colour),
            background: background.unwrap_or(outer.background),
            around,
            leftward: leftward.unwrap_or(outer.leftward),
            is_override: is_override.unwrap_or(outer.is_override),
        }
    }

    /// End the innermost element that a tag ends, with all inside it; the state after it.
    fn end(&mut self, tag: &Tag, state: usize) -> usize {
        let lowest = if tag.ends_something() {
            self.opened.len().saturating_sub(MAX_REACH)
        } else {
            self.opened.len()
        };
        for index in (lowest..self.opened.len()).rev() {
            let Some(each) = self.opened.get(index).filter(|each| tag.stops_at(&each.name)) else { continue };
            if !tag.does_end(&each.name) {
                break;
            }
            if each.kind == Kind::Block {
                self.separate(self.before.get(index + 1).copied().unwrap_or(state));
            }
            let outside = self.before.get(index).copied().unwrap_or(state);
            self.opened.truncate(index);
            self.before.truncate(index);
            return outside;
        }
        if tag.name == "p" && !tag.is_start {
            self.separate(state); // that makes an empty paragraph
        }
        state
    }

    /// Begin a new line; not in the visible text where nothing takes any place.
    fn separate(&mut self, state: usize) {
        let State { hidden, gone, values, .. } = &self.states[state];
        if *hidden {
            self.hidden.push(Cow::Borrowed("\n"));
        }
        if !gone {
            self.visible.push(Cow::Borrowed("\n"));
            self.html.quoted += usize::from(values.quoted);
        }
    }

    /// Note what a tag says in addition to its effect on text.
    fn note(&mut self, tag: &Rc<Tag>, state: usize) {
        self.colours.extend(tag.colours.iter().cloned());
        self.html.images.extend(tag.pictures.iter().cloned());
        if !tag.alt.is_empty() {
            self.html.alts.push(tag.alt.clone());
        }
        if !tag.shown.is_empty() {
            self.add_inside(tag, state, format!(" {}\n", tag.shown));
        }
        if tag.name == "a" {
            self.end_link();
            self.link.clone_from(&tag.link);
            self.start = self.visible.len();
        } else if tag.name == "base" {
            if self.base.is_none() {
                self.base.clone_from(&tag.link); // the first one counts
            }
        } else if let Some(link) = &tag.link {
            self.html.links.push((link.clone(), String::new()));
        }
    }

    /// Add a text that an element shows by itself.
    fn add_inside(&mut self, tag: &Rc<Tag>, state: usize, text: String) {
        let inside = self.enter(state, tag);
        let place = if self.state(inside).hidden { &mut self.hidden } else { &mut self.visible };
        place.push(Cow::Owned(text));
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            let text = self.visible.get(self.start..).unwrap_or_default().concat();
            self.html.links.push((link, text.trim_matches(is_space).to_string()));
        }
    }

    /// The tag that a piece begins with, and the text after it.
    fn read_tag(&mut self, piece: &'a str, state: usize) -> Read<(Rc<Tag>, Cow<'a, str>)> {
        let nothing = Rc::clone(&self.nothing);
        if let Some(inside) = piece.strip_prefix('!') {
            return Ok((nothing, self.skip_declaration(piece, inside)));
        }
        let is_end = piece.starts_with('/');
        let letter = piece.as_bytes().get(usize::from(is_end));
        if !letter.is_some_and(u8::is_ascii_alphabetic) {
            let is_skipped = is_end || piece.starts_with('?');
            let rest = if is_skipped {
                self.skip_past(">", Cow::Borrowed(piece))
            } else {
                Cow::Owned(format!("<{piece}"))
            };
            return Ok((nothing, rest));
        }
        let (text, rest) = self.read_whole_tag(piece);
        if text.is_empty() {
            return Ok((nothing, Cow::Borrowed("")));
        }
        let place = self.state(state).values.around;
        let around = &self.arounds[place];
        let is_drawn = around.contains("svg");
        let mut tag =
            if is_drawn { Rc::new(Tag::new(&text, &[], &drawing(), true)?) } else { remember_tag(&text)? };
        let rules = if tag.is_start && !self.sheet.rules.is_empty() {
            self.sheet.find_rules(&tag.marks, around)
        } else {
            Vec::new()
        };
        let is_asked = self.sheet.asked.intersection(&tag.marks).any(|mark| !around.contains(mark));
        if !rules.is_empty() || is_asked {
            tag = Rc::new(Tag::new(&text, &rules, &self.sheet.asked, is_drawn)?);
        }
        self.known.entry(place).or_default().insert(text.into_owned(), Rc::clone(&tag));
        Ok((tag, Cow::Borrowed(rest)))
    }

    /// The text after a comment or a declaration.  inside : of the piece, after `!`
    fn skip_declaration(&mut self, piece: &'a str, inside: &'a str) -> Cow<'a, str> {
        let Some(text) = inside.strip_prefix("--") else {
            let is_doctype = inside.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("doctype"));
            self.html.comments += usize::from(!is_doctype);
            return self.skip_past(">", Cow::Borrowed(piece));
        };
        self.html.comments += 1;
        let comment = match text.strip_prefix('!') {
            Some(after) => Cow::Owned(format!("-- {after}")), // <!--!> is no end
            None => Cow::Borrowed(inside),
        };
        self.skip_past("-->", comment)
    }

    /// The text of a tag and what follows; a `>` in quotes is no end, and without an end all is lost.
    fn read_whole_tag(&mut self, piece: &'a str) -> (Cow<'a, str>, &'a str) {
        let (text, is_ended, rest) = partition(piece, ">");
        let is_odd = |quote: u8| text.bytes().filter(|byte| *byte == quote).count() % 2 == 1;
        if is_ended && !is_odd(b'"') && !is_odd(b'\'') {
            return (Cow::Borrowed(text), rest);
        }
        let mut kept: Vec<&str> = Vec::new();
        let (mut quote, mut last) = (None, ' ');
        for part in once(piece).chain(self.walk.by_ref()) {
            for (place, character) in part.char_indices() {
                if quote.is_some() {
                    quote = quote.filter(|open| *open != character);
                } else if character == '>' {
                    kept.push(part.get(..place).unwrap_or_default());
                    return (Cow::Owned(kept.join("<")), part.get(place + 1..).unwrap_or_default());
                } else if last == '=' && matches!(character, '"' | '\'') {
                    quote = Some(character);
                }
                last = if character > ' ' { character } else { last };
            }
            kept.push(part);
        }
        (Cow::Borrowed(""), "")
    }

    /// The text after a marker, in this piece or a later one; `--!>` ends a comment, too.
    fn skip_past(&mut self, marker: &str, mut piece: Cow<'a, str>) -> Cow<'a, str> {
        loop {
            if piece.contains("--!>") {
                piece = Cow::Owned(piece.replacen("--!>", "-->", 1));
            }
            if let Some(start) = piece.find(marker) {
                let after = start + marker.len();
                return match piece {
                    Cow::Borrowed(text) => Cow::Borrowed(text.get(after..).unwrap_or_default()),
                    Cow::Owned(text) => Cow::Owned(text.get(after..).unwrap_or_default().to_string()),
                };
            }
            match self.walk.next() {
                Some(next) => piece = Cow::Borrowed(next),
                None => return Cow::Borrowed(""),
            }
        }
    }

    /// Take the content of an element without markup; the text after it.
    fn take_raw(&mut self, tag: &Rc<Tag>, rest: Cow<'a, str>, state: usize) -> Read<&'a str> {
        let mut kept = vec![rest];
        let mut after = "";
        for piece in self.walk.by_ref() {
            let end = piece.strip_prefix('/').map(|text| first(text, tag.name.len() + 1));
            let name = end.map(|text| text.trim_end_matches([' ', '\t', '\r', '\n', '\x0c', '/', '>']));
            if name.is_some_and(|name| name.eq_ignore_ascii_case(&tag.name)) {
                after = partition(piece, ">").2;
                break;
            }
            kept.push(Cow::Borrowed(piece));
        }
        let content = kept.join("<");
        match tag.name.as_str() {
            "title" if self.html.title.is_empty() => {
                self.html.title = decode_references(&content, false)?.trim_matches(is_space).to_string();
            }
            "style" if self.sheets < MAX_SHEETS && is_screen(&tag.media) => {
                self.sheets += 1;
                self.sheet.read(&content)?;
                self.known.clear(); // tags mean something else from here on
            }
            "textarea" | "xmp" | "plaintext" => {
                let text = format!("\n{}\n", decode_references(&content, false)?);
                self.add_inside(tag, state, text);
            }
            _ => {}
        }
        Ok(after)
    }
}

/// A tag without regard to sheets and drawings: sharing it changes no result.
fn remember_tag(text: &str) -> Read<Rc<Tag>> {
    if let Some(tag) = REMEMBERED.with(|tags| tags.borrow().get(text).map(Rc::clone)) {
        return Ok(tag);
    }
    let tag = Rc::new(Tag::new(text, &[], &drawing(), false)?);
    if text.len() <= MAX_REMEMBERED_TAG {
        REMEMBERED.with(|tags| {
            let mut tags = tags.borrow_mut();
            if tags.len() >= MAX_REMEMBERED_TAGS {
                tags.clear();
            }
            tags.insert(text.to_string(), Rc::clone(&tag));
        });
    }
    Ok(tag)
}

/// `pin(character).isalnum()`; false for none.
fn is_word_character(character: Option<char>) -> Read<bool> {
    character.map_or(Ok(false), is_alnum)
}
