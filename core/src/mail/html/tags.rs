//! nbspam/mail/html/tags.py: one tag of HTML by its text.

use super::entities::decode_references;
use super::styles::{
    parse_colour, Marks, Properties, Rule, Style, FAINT_OPACITY, NORMAL, TINY, TRANSPARENT, UNKNOWN_COLOUR,
};
use crate::mail::message::Read;
use crate::python::ask;
use crate::tokens::text::{first, is_digit, is_space, lower, partition, split_space, split_space_at_most};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

const MAX_ADDRESS: usize = 4_096; // characters of one that are kept
const FAR: f64 = -400.0; // pixels: an indent off the screen

/// In a line, of blocks, of ends, line breaks; without content, or unknown; without markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Open,
    Block,
    Close,
    Break,
    Void,
    Raw,
}

/// Attributes by lower-case name, decoded.
type Attributes = HashMap<String, String>;

/// Names of the elements that a tag ends.
#[derive(Debug, PartialEq, Eq)]
enum Ends {
    Known(&'static [&'static str]),
    /// An end tag ends what has its name.
    Own,
}

/// What a tag changes of what a text inherits.
#[derive(Debug, Default)]
pub struct Look {
    pub values: Properties,
    pub is_gone: bool,
    /// Marks that rules want around others.
    pub around: Marks,
}

/// One start or end tag; see Tag in Python.  `look` is None if the tag changes nothing.
#[derive(Debug)]
pub struct Tag {
    pub is_start: bool,
    pub name: String,
    pub kind: Kind,
    pub look: Option<Look>,
    pub marks: Marks,
    pub colours: Vec<String>,
    pub pictures: Vec<String>,
    pub link: Option<String>,
    pub alt: String,
    pub media: String,
    pub shown: String,
    pub is_noted: bool,
    ends: Ends,
}

fn find_kind(name: &str) -> Kind {
    match name {
        "a" | "abbr" | "audio" | "b" | "big" | "button" | "cite" | "code" | "datalist" | "del" | "dfn"
        | "em" | "font" | "i" | "ins" | "label" | "map" | "mark" | "meter" | "nobr" | "noscript"
        | "object" | "progress" | "q" | "rp" | "s" | "small" | "span" | "strike" | "strong" | "sub"
        | "sup" | "svg" | "template" | "time" | "tt" | "u" | "video" | "bdo" => Kind::Open,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details"
        | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figure" | "footer" | "form" | "h1"
        | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "html" | "legend" | "li" | "main" | "menu"
        | "nav" | "ol" | "optgroup" | "option" | "p" | "pre" | "section" | "select" | "summary" | "table"
        | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr" | "ul" => Kind::Block,
        "br" | "frame" | "hr" | "input" => Kind::Break,
        "iframe" | "noembed" | "noframes" | "plaintext" | "script" | "style" | "textarea" | "title"
        | "xmp" => Kind::Raw,
        _ => Kind::Void,
    }
}

/// How drawings show an element of theirs.
fn find_drawn(name: &str) -> Option<&'static str> {
    match name {
        "title" | "desc" | "metadata" | "defs" | "symbol" => Some("none"),
        "text" => Some("block"),
        "tspan" | "g" => Some("inline"),
        _ => None,
    }
}

/// These take a background from attributes, and grow with their contents.
fn has_background(name: &str) -> bool {
    matches!(name, "caption" | "td" | "th" | "tr" | "tbody" | "thead" | "tfoot" | "table" | "body")
}

/// An end tag ends nothing outside of these.
fn is_wall(name: &str) -> bool {
    matches!(name, "table" | "td" | "th" | "caption" | "ul" | "ol" | "dl" | "select" | "button" | "object")
}

fn find_ends(name: &str) -> &'static [&'static str] {
    match name {
        "td" | "th" => &["td", "th"],
        "tr" => &["tr"],
        "li" => &["li"],
        "table" => &["svg"],
        _ => &["p", "svg"],
    }
}

impl Tag {
    /// Markup that is no element.
    pub fn nothing() -> Tag {
        Tag {
            is_start: false,
            name: "wbr".to_string(),
            kind: Kind::Void,
            look: None,
            marks: Marks::new(),
            colours: Vec::new(),
            pictures: Vec::new(),
            link: None,
            alt: String::new(),
            media: String::new(),
            shown: String::new(),
            is_noted: false,
            ends: Ends::Own,
        }
    }

    /// One tag by what is between < and >; see Tag.__init__ in Python for the arguments.
    pub fn new(text: &str, rules: &[Rc<Rule>], asked: &Marks, is_drawn: bool) -> Read<Tag> {
        let bare = text.strip_prefix('/');
        let is_start = bare.is_none();
        let written = partition(bare.unwrap_or(text), "/").0;
        let written_name = split_space_at_most(written, 1).first().copied().unwrap_or_default();
        let name = lower(written_name)?.into_owned();
        let found = if is_start { parse_attributes(text, written_name.len())? } else { Attributes::new() };
        let drawn = find_drawn(&name).filter(|_| is_drawn);
        let mut tag = Tag {
            is_start,
            kind: if drawn.is_some() { Kind::Open } else { find_kind(&name) },
            marks: find_marks(&name, &found)?,
            link: find_target(&name, &found)?,
            alt: get(&found, "alt").to_string(),
            media: lower(get(&found, "media"))?.into_owned(),
            shown: find_shown(&name, &found)?,
            ends: Ends::Known(find_ends(&name)),
            name,
            ..Tag::nothing()
        };
        if is_start {
            let mut values = tag.find_properties(&found, rules, is_drawn)?;
            if let Some(display) = drawn {
                let has_place = ["x", "y", "dy"].iter().any(|place| found.contains_key(*place));
                values.display.get_or_insert_with(|| if has_place { "block" } else { display }.to_string());
            }
            tag.settle(values);
            let around: Marks = tag.marks.intersection(asked).cloned().collect();
            if !around.is_empty() {
                tag.look.get_or_insert_with(Look::default).around = around;
            }
        } else {
            tag.become_end();
        }
        let is_known = tag.link.as_ref().is_some_and(|link| !link.is_empty())
            || !(tag.pictures.is_empty()
                && tag.alt.is_empty()
                && tag.shown.is_empty()
                && tag.colours.is_empty());
        tag.is_noted = matches!(tag.name.as_str(), "a" | "base") || is_known;
        Ok(tag)
    }

    /// True if the tag ends elements of this name.
    pub fn does_end(&self, name: &str) -> bool {
        match self.ends {
            Ends::Known(names) => names.contains(&name),
            Ends::Own => self.name == name,
        }
    }

    /// True if the search for an element to end stops at one of this name.
    pub fn stops_at(&self, name: &str) -> bool {
        let is_border = if has_background(&self.name) { name == "table" } else { is_wall(name) };
        is_border || self.does_end(name)
    }

    /// False for a tag that ends nothing.
    pub fn ends_something(&self) -> bool {
        self.ends != Ends::Known(&[])
    }

    fn become_end(&mut self) {
        let is_ended =
            matches!(self.kind, Kind::Open | Kind::Block) && !matches!(self.name.as_str(), "html" | "body");
        self.kind = match self.name.as_str() {
            _ if is_ended => Kind::Close,
            "br" => Kind::Break,
            _ => Kind::Void,
        };
        self.ends = Ends::Own;
    }

    /// What attributes, rules and style say together, each stronger than the one before.
    fn find_properties(
        &mut self,
        found: &Attributes,
        rules: &[Rc<Rule>],
        is_drawn: bool,
    ) -> Read<Properties> {
        let mut values = self.read_attributes(found)?;
        let written = get(found, "style");
        let mut pictures: Vec<&str> = written
            .split("url(")
            .skip(1)
            .map(|piece| partition(piece, ")").0.trim_matches(['\'', '"', ' ']))
            .collect();
        pictures.extend(["src", "background"].iter().filter_map(|name| found.get(*name)).map(String::as_str));
        self.pictures = pictures.into_iter().map(shorten).collect();
        let mut styles: Vec<Rc<Style>> = rules.iter().map(|rule| Rc::clone(&rule.style)).collect();
        if !written.is_empty() {
            styles.push(Rc::new(Style::new(written)?));
        }
        if is_drawn {
            let presented: Vec<String> = ["display", "visibility", "opacity", "font-size"]
                .iter()
                .filter_map(|name| found.get(*name).map(|value| format!("{name}:{value}")))
                .collect();
            styles.insert(0, Rc::new(Style::new(&presented.join(";"))?));
        }
        for style in &styles {
            values.update(&style.plain);
        }
        for style in &styles {
            values.update(&style.important);
        }
        let colours = [values.colour, values.background].into_iter().flatten().filter(|colour| *colour >= 0);
        self.colours = colours.map(|colour| format!("#{colour:06x}")).collect();
        Ok(values)
    }

    /// What attributes say.
    fn read_attributes(&self, found: &Attributes) -> Read<Properties> {
        let name = self.name.as_str();
        let mut values = Properties::default();
        if matches!(name, "datalist" | "rp" | "template") {
            values.display = Some("none".to_string());
        }
        if let Some(direction) = found.get("dir") {
            values.leftward = Some(direction.trim_matches(is_space).eq_ignore_ascii_case("rtl"));
        }
        if name == "bdo" {
            values.is_override = Some(true);
        }
        if matches!(name, "details" | "summary") {
            values.shut = Some(name == "details" && !found.contains_key("open"));
        }
        if matches!(name, "button" | "mark" | "select") || (name == "a" && found.contains_key("href")) {
            values.colour = Some(UNKNOWN_COLOUR);
        }
        if name == "font" && is_digit(first(get(found, "size").trim_matches(['+', '-', ' ']), 1))? {
            values.size = Some(NORMAL);
        }
        let is_cited = |value: &String| value.contains("cite") || value.contains("quote");
        if name == "blockquote" && found.values().any(is_cited) {
            values.quoted = Some(true);
        }
        if has_background(name) && found.contains_key("background") {
            values.background = Some(UNKNOWN_COLOUR);
        }
        if has_background(name) {
            read_colour(found, "bgcolor", &mut values.background)?;
        }
        if name == "body" {
            read_colour(found, "text", &mut values.colour)?;
        }
        if name == "font" {
            read_colour(found, "color", &mut values.colour)?;
        }
        Ok(values)
    }

    /// Find what the values do to the element and the text in it.
    fn settle(&mut self, mut values: Properties) {
        if values.is_empty() {
            return;
        }
        let usual = if self.kind == Kind::Block { "block" } else { "inline" };
        let display = values.display.take().unwrap_or_else(|| usual.to_string());
        if display == "inline" && self.kind == Kind::Block {
            self.kind = Kind::Open;
        } else if matches!(display.as_str(), "block" | "table" | "flex") && self.kind == Kind::Open {
            self.kind = Kind::Block;
            self.ends = Ends::Known(&[]);
        }
        if values.background == Some(TRANSPARENT) {
            values.background = None;
        }
        let is_box = values.overflow.take().is_some_and(|overflow| overflow == "hidden")
            && display != "inline"
            && !has_background(&self.name);
        let least = std::mem::take(&mut values.sizes).into_iter().flatten().fold(NORMAL, f64::min);
        let is_gone = display == "none"
            || values.opacity.take().unwrap_or(1.0) <= FAINT_OPACITY
            || (is_box && least <= TINY)
            || values.indent.take().unwrap_or(0.0) <= FAR;
        if is_gone || !values.is_empty() {
            self.look = Some(Look { values, is_gone, around: Marks::new() });
        }
    }
}

/// The value of an attribute, or nothing.
fn get<'a>(found: &'a Attributes, name: &str) -> &'a str {
    found.get(name).map(String::as_str).unwrap_or_default()
}

fn shorten(address: &str) -> String {
    first(address.trim_matches(is_space), MAX_ADDRESS).to_string()
}

/// Also without its `#`; a number is larger than UNKNOWN_COLOUR and TRANSPARENT.
fn read_colour(found: &Attributes, attribute: &str, own: &mut Option<i64>) -> Read<()> {
    if let Some(value) = found.get(attribute) {
        let value = lower(value.trim_matches(is_space))?;
        *own = Some(parse_colour(&value).max(parse_colour(&format!("#{value}"))));
    }
    Ok(())
}

fn find_marks(name: &str, found: &Attributes) -> Read<Marks> {
    let id = found.get("id").map_or(" ", String::as_str);
    let mut marks = Marks::from([name.to_string(), "*".to_string(), format!("#{}", lower(id)?)]);
    marks.extend(split_space(&lower(get(found, "class"))?).map(|class| format!(".{class}")));
    Ok(marks)
}

fn find_shown(name: &str, found: &Attributes) -> Read<String> {
    let kind = lower(get(found, "type"))?;
    let is_seen =
        name == "input" && !matches!(&*kind, "hidden" | "checkbox" | "radio" | "password" | "image" | "file");
    let value = get(found, "value");
    let text = if value.is_empty() { get(found, "placeholder") } else { value };
    Ok(if is_seen { text.to_string() } else { String::new() })
}

/// Where a link, form, button or refresh leads to, or a base.
fn find_target(name: &str, found: &Attributes) -> Read<Option<String>> {
    let mut target: Option<&str> = None;
    if matches!(name, "a" | "area" | "base") || name.contains(':') {
        target = found.get("href").or_else(|| found.get("xlink:href")).map(String::as_str);
    }
    if matches!(name, "form" | "button" | "input") {
        let places = [get(found, "formaction"), get(found, "action")];
        target = places.into_iter().find(|place| !place.is_empty());
    }
    if name == "meta" && lower(get(found, "http-equiv"))? == "refresh" {
        target = find_refresh(get(found, "content"))?;
    }
    Ok(target.map(shorten))
}

fn find_refresh(content: &str) -> Read<Option<&str>> {
    let lowered = lower(content)?;
    let Some(place) = lowered.find("url=") else { return Ok(None) };
    let before = lowered.get(..place).unwrap_or_default().chars().count();
    let start = content.char_indices().nth(before + 4).map_or(content.len(), |(start, _)| start);
    Ok(content.get(start..).map(|address| address.trim_matches(['\'', '"', ' '])))
}

/// An address as a browser reads it by the `base` of a page (RFC 3986, 5.2.2), but `..` stays.
pub fn resolve(base: &str, address: &str) -> Read<String> {
    let base = base.replace('\\', "/");
    let (scheme, has_slashes, place) = partition(partition(partition(&base, "?").0, "#").0, "//");
    let (before, has_colon, _) = partition(address, ":");
    let is_web = ["http:", "https:", "ftp:", ""].iter().any(|known| known.eq_ignore_ascii_case(scheme));
    if !is_web || !has_slashes || (has_colon && ask(before, "isalpha")?) {
        return Ok(address.to_string());
    }
    let address = address.replace('\\', "/");
    if address.starts_with("//") {
        return Ok(format!("{scheme}{address}"));
    }
    let (host, _, path) = partition(place.trim_start_matches('/'), "/");
    if address.starts_with('/') {
        return Ok(format!("{scheme}//{host}{address}"));
    }
    let is_beside = !(address.is_empty() || address.starts_with(['?', '#']));
    let end = if is_beside { path.rfind('/').map_or(0, |slash| slash + 1) } else { path.len() };
    Ok(format!("{scheme}//{host}/{}{address}", path.get(..end).unwrap_or_default()))
}

/// The attributes of a tag: the first of a name counts;  place : where the tag's name ends
fn parse_attributes(text: &str, mut place: usize) -> Read<Attributes> {
    let text: Cow<'_, str> = if text.contains(['\t', '\r', '\n', '\x0c']) {
        Cow::Owned(text.replace(['\t', '\r', '\n', '\x0c'], " "))
    } else {
        Cow::Borrowed(text)
    };
    let mut found = Attributes::new();
    let find = |mark: char, start: usize| {
        let rest = text.get(start..).unwrap_or_default();
        rest.find(mark).map_or(text.len(), |offset| start + offset)
    };
    while place < text.len() {
        let equals = find('=', place);
        let names = text.get(place..equals).unwrap_or_default().replace('/', " ");
        place = equals + 1;
        while text.as_bytes().get(place) == Some(&b' ') {
            place += 1;
        }
        let quote = match text.as_bytes().get(place) {
            Some(b'"') => '"',
            Some(b'\'') => '\'',
            _ => ' ',
        };
        place += usize::from(quote != ' ');
        let end = find(quote, place);
        let value = decode_references(text.get(place..end).unwrap_or_default(), true)?;
        let mut words = split_space(&names).peekable();
        while let Some(word) = words.next() {
            let own = if words.peek().is_none() { value.to_string() } else { String::new() };
            found.entry(lower(word)?.into_owned()).or_insert(own);
        }
        place = end + 1;
    }
    Ok(found)
}
