//! nbspam/mail/html/tags.py: one tag of HTML by its text: what it begins or ends, where it leads, what it does to
//! the text inside.

use super::entities::decode_references;
use super::styles::{
    parse_colour, Around, Marks, Properties, Property, Sheet, Style, BLOCK, FAINT_OPACITY, INHERITED, INLINE,
    NONE, NORMAL, TINY, TRANSPARENT, UNKNOWN_COLOUR,
};
use crate::mail::message::{Read, RARE};
use crate::text::{first, is_digit, is_space, lower, partition};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::OnceLock;

const MAX_ADDRESS: usize = 4_096;
const FAR: f64 = -400.0; // pixels

/// What a tag begins or ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    Open,
    Block,
    Close,
    Break,
    #[default]
    Void,
    Raw,
}

const KINDS: [(Kind, &str); 5] = [
    (
        Kind::Open,
        "a abbr audio b big button cite code datalist del dfn em font i ins label map mark math meter nobr \
         noscript object progress q rp s small span strike strong sub sup svg template time tt u video bdo",
    ),
    (
        Kind::Block,
        "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset \
         figure footer form h1 h2 h3 h4 h5 h6 header html legend li main menu nav ol optgroup option p pre \
         section select summary table tbody td tfoot th thead tr ul",
    ),
    (Kind::Break, "br frame hr input"),
    (Kind::Raw, "iframe noembed noframes plaintext script style textarea title xmp"),
    (Kind::Void, "base"),
];

/// A set of names of elements: bit n is the n-th one of KINDS.
pub type Names = u128;

/// The name of an element, as its bit, too; "" and 0 if nothing depends on it.
#[derive(Clone, Copy, Default)]
pub struct Name {
    pub text: &'static str,
    pub bit: Names,
}

/// The elements that matter, by name.
struct Elements {
    known: HashMap<&'static str, (Name, Kind)>,
    with_background: Names,
    walls: Names,
}

impl Elements {
    /// The bits of names, separated by spaces.
    fn bits(&self, names: &str) -> Names {
        names.split(' ').filter_map(|name| self.known.get(name)).fold(0, |bits, (name, _)| bits | name.bit)
    }

    /// The elements that the start tag of a block ends.
    fn ends(&self, name: &str) -> Names {
        self.bits(match name {
            "td" | "th" => "td th",
            "tr" | "li" => name,
            "table" => "",
            _ => "p",
        })
    }
}

fn elements() -> &'static Elements {
    static ELEMENTS: OnceLock<Elements> = OnceLock::new();
    ELEMENTS.get_or_init(|| {
        let all = KINDS.iter().flat_map(|(kind, names)| names.split(' ').map(|name| (name, *kind)));
        let known =
            all.enumerate().map(|(place, (text, kind))| (text, (Name { text, bit: 1 << place }, kind)));
        let mut elements = Elements { known: known.collect(), with_background: 0, walls: 0 };
        elements.with_background = elements.bits("caption td th tr tbody thead tfoot table body");
        elements.walls = elements.bits("table td th caption ul ol dl select button object");
        elements
    })
}

/// What a tag changes of what a text inherits.
#[derive(Clone, Default)]
pub struct Look {
    pub inherited: [Option<f64>; INHERITED],
    pub is_gone: bool,
    pub around: Around,
}

impl Look {
    pub fn is_empty(&self) -> bool {
        !self.is_gone && self.around == 0 && self.inherited.iter().all(Option::is_none)
    }
}

/// One start or end tag; see Tag in Python for each field.
#[derive(Default)]
pub struct Tag {
    pub is_start: bool,
    pub name: Name,
    pub kind: Kind,
    pub ends: Names,
    pub stops: Names,
    pub look: Look,
    pub colours: Vec<u32>,
    pub pictures: Vec<String>,
    pub link: Option<String>,
    pub alt: String,
    pub media: String,
    pub shown: String,
    pub is_noted: bool,
}

impl Tag {
    /// One tag by what is between < and >, which begins with a letter, or with `/` and a letter.
    pub fn read(text: &str, sheet: &mut Sheet, around: Around) -> Read<Tag> {
        let elements = elements();
        let is_start = !text.starts_with('/');
        let bare = text.strip_prefix('/').unwrap_or(text);
        let end = bare.find(|character| character == '/' || is_space(character)).unwrap_or(bare.len());
        let (written_name, after) = bare.split_at(end);
        let written = lower(written_name)?;
        let (name, kind) = match elements.known.get(written.as_ref()) {
            Some((name, kind)) => (*name, *kind),
            None => (Name::default(), Kind::Void),
        };
        if is_start && matches!(name.text, "svg" | "math" | "base" | "bdo") {
            return Err(RARE);
        }
        let mut tag = Tag { is_start, name, kind, ends: name.bit, ..Tag::default() };
        if is_start {
            let found = Attributes::read(after, name.text == "blockquote")?;
            tag.ends = elements.ends(name.text);
            let marks = sheet.find_marks(&written, found.get("id").unwrap_or(" "), found.text("class"))?;
            let rules = sheet.find_rules(&marks, around);
            tag.apply(&found, &rules, &marks)?;
            tag.link = find_target(&written, &found)?;
            tag.alt = found.text("alt").to_string();
            tag.media = lower(found.text("media"))?.into_owned();
            tag.shown = find_shown(name.text, &found)?;
        } else if !matches!(kind, Kind::Open | Kind::Block) || matches!(name.text, "html" | "body") {
            tag.kind = if name.text == "br" { Kind::Break } else { Kind::Void };
        } else {
            tag.kind = Kind::Close;
        }
        let has_background = name.bit & elements.with_background != 0;
        tag.stops = tag.ends | if has_background { elements.bits("table") } else { elements.walls };
        let says_something = [&tag.alt, &tag.shown].iter().any(|text| !text.is_empty());
        tag.is_noted = name.text == "a"
            || tag.link.as_ref().is_some_and(|link| !link.is_empty())
            || says_something
            || !tag.pictures.is_empty()
            || !tag.colours.is_empty();
        Ok(tag)
    }

    /// Find what attributes, rules and style do to the element.
    fn apply(&mut self, found: &Attributes, rules: &[Rc<Style>], marks: &Marks) -> Read<()> {
        let values = self.find_properties(found, rules)?;
        self.settle(&values);
        self.look.around = marks.asked;
        Ok(())
    }

    /// What attributes, rules and style say together, each stronger than the one before.
    fn find_properties(&mut self, found: &Attributes, rules: &[Rc<Style>]) -> Read<Properties> {
        let mut values = self.find_presentation(found)?;
        let written = found.text("style");
        let mut pictures: Vec<&str> = written.split("url(").skip(1).map(find_address).collect();
        pictures.extend(["src", "background"].iter().filter_map(|name| found.get(name)));
        let pictures = pictures.into_iter().map(|picture| first(picture.trim_matches(is_space), MAX_ADDRESS));
        self.pictures = pictures.map(str::to_string).collect();
        let own = Style::read(written)?;
        rules.iter().for_each(|style| values.update(&style.plain));
        values.update(&own.plain);
        rules.iter().for_each(|style| values.update(&style.important));
        values.update(&own.important);
        let colours = [Property::Colour, Property::Background].into_iter().filter_map(|key| values.get(key));
        self.colours = colours.filter(|colour| *colour >= 0.0).map(|colour| colour as u32).collect();
        Ok(values)
    }

    /// What the element and its attributes, except style, say.
    fn find_presentation(&self, found: &Attributes) -> Read<Properties> {
        let name = self.name.text;
        let has_background = self.name.bit & elements().with_background != 0;
        let mut values = Properties::default();
        if matches!(name, "datalist" | "rp" | "template") {
            values.set(Property::Display, NONE);
        }
        if matches!(name, "button" | "mark" | "select") || (name == "a" && found.has("href")) {
            values.set(Property::Colour, f64::from(UNKNOWN_COLOUR)); // its own one
        }
        if name == "font" && is_digit(first(found.text("size").trim_matches(['+', '-', ' ']), 1))? {
            values.set(Property::Size, NORMAL);
        }
        if name == "blockquote" && found.quotes {
            values.set(Property::Quoted, 1.0);
        }
        if has_background && found.has("background") {
            values.set(Property::Background, f64::from(UNKNOWN_COLOUR));
        }
        for (attribute, property, is_read) in [
            ("bgcolor", Property::Background, has_background),
            ("text", Property::Colour, name == "body"),
            ("color", Property::Colour, name == "font"),
        ] {
            if let Some(value) = found.get(attribute).filter(|_| is_read) {
                let value = lower(value.trim_matches(is_space))?;
                // Also without its `#`; a number is larger than UNKNOWN_COLOUR and TRANSPARENT.
                let colour = parse_colour(&value)?.max(parse_colour(&format!("#{value}"))?);
                values.set(property, f64::from(colour));
            }
        }
        Ok(values)
    }

    /// Find what the values do to the element and the text in it.
    fn settle(&mut self, values: &Properties) {
        let default = if self.kind == Kind::Block { BLOCK } else { INLINE };
        let display = values.get(Property::Display).unwrap_or(default);
        if display == INLINE && self.kind == Kind::Block {
            self.kind = Kind::Open;
        } else if display == BLOCK && self.kind == Kind::Open {
            (self.kind, self.ends) = (Kind::Block, 0);
        }
        self.look.inherited = values.inherited();
        if values.get(Property::Background) == Some(f64::from(TRANSPARENT)) {
            if let Some(background) = self.look.inherited.get_mut(Property::Background as usize) {
                *background = None;
            }
        }
        let sizes = [Property::Height, Property::MaxHeight, Property::Width, Property::MaxWidth];
        let is_box = values.get(Property::Overflow) == Some(1.0)
            && display != INLINE
            && self.name.bit & elements().with_background == 0;
        self.look.is_gone = display == NONE
            || values.get(Property::Opacity).is_some_and(|opacity| opacity <= FAINT_OPACITY)
            || (is_box && sizes.iter().any(|size| values.get(*size).is_some_and(|size| size <= TINY)))
            || values.get(Property::Indent).is_some_and(|indent| indent <= FAR);
    }
}

/// The address in what follows `url(`.
fn find_address(piece: &str) -> &str {
    partition(piece, ")").0.trim_matches(['\'', '"', ' '])
}

/// The text of a field of a form that a reader sees.
fn find_shown(name: &str, found: &Attributes) -> Read<String> {
    if name != "input" {
        return Ok(String::new());
    }
    let kind = lower(found.text("type"))?;
    if matches!(kind.as_ref(), "hidden" | "checkbox" | "radio" | "password" | "image" | "file") {
        return Ok(String::new());
    }
    let value = found.get("value").filter(|value| !value.is_empty());
    Ok(value.unwrap_or(found.text("placeholder")).to_string())
}

/// Where a link, form, button or refresh leads to, or a base.
fn find_target(name: &str, found: &Attributes) -> Read<Option<String>> {
    let target = match name {
        "form" | "button" | "input" => {
            let targets = [found.get("formaction"), found.get("action")];
            targets.into_iter().flatten().find(|target| !target.is_empty())
        }
        "meta" if found.text("http-equiv").eq_ignore_ascii_case("refresh") => return Err(RARE),
        "a" | "area" => found.get("href").or(found.get("xlink:href")),
        _ if name.contains(':') => found.get("href").or(found.get("xlink:href")),
        _ => None,
    };
    Ok(target.map(|target| first(target.trim_matches(is_space), MAX_ADDRESS).to_string()))
}

/// The attributes that are read; all others only count as text of a quotation.
const ATTRIBUTES: [&str; 19] = [
    "action", "alt", "background", "bgcolor", "class", "color", "formaction", "href", "http-equiv", "id",
    "media", "placeholder", "size", "src", "style", "text", "type", "value", "xlink:href",
];

/// The attributes of a tag, decoded, by lower-case name: the first counts.
struct Attributes<'a> {
    found: Vec<(&'static str, Cow<'a, str>)>,
    quotes: bool, // any of them has the word `cite` or `quote` in it
}

impl<'a> Attributes<'a> {
    /// text : what follows the name of a tag;  with_all : whether `quotes` is asked for
    fn read(text: &'a str, with_all: bool) -> Read<Self> {
        let mut attributes = Attributes { found: Vec::new(), quotes: false };
        let mut names = HashSet::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (before, _, after) = partition(rest, "=");
            let after = after.trim_start_matches(is_blank);
            let quote = after.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
            let ended = match quote {
                Some(quote) => after.get(1..).unwrap_or_default().split_once(quote),
                None => after.split_once(is_blank),
            };
            let (value, after) =
                ended.unwrap_or((after.get(usize::from(quote.is_some())..).unwrap_or_default(), ""));
            rest = after;
            let words = before.split(|character| character == '/' || is_space(character));
            let mut words = words.filter(|word| !word.is_empty()).peekable();
            while let Some(word) = words.next() {
                let value = if words.peek().is_none() { value } else { "" };
                attributes.add(word, value)?;
                if with_all && names.insert(lower(word)?.into_owned()) {
                    let value = decode_value(value)?;
                    attributes.quotes |= value.contains("cite") || value.contains("quote");
                }
            }
        }
        Ok(attributes)
    }

    fn add(&mut self, word: &str, value: &'a str) -> Read<()> {
        // One letter beyond ASCII is a letter of ASCII in lower case: the sign of Kelvin.
        let word = if word.is_ascii() { Cow::Borrowed(word) } else { word.replace('\u{212a}', "k").into() };
        if let Some(name) = ATTRIBUTES.iter().find(|name| name.eq_ignore_ascii_case(&word)) {
            if !self.has(name) {
                self.found.push((name, decode_value(value)?));
            }
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.found.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_ref())
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

/// White space that ends a value without quotes.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c')
}

fn decode_value(value: &str) -> Read<Cow<'_, str>> {
    if !value.contains(['\t', '\r', '\n', '\x0c']) {
        return decode_references(value, true);
    }
    let value = value.replace(['\t', '\r', '\n', '\x0c'], " ");
    Ok(Cow::Owned(decode_references(&value, true)?.into_owned()))
}
