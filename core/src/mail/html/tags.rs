//! nbspam/mail/html/tags.py: one tag of HTML by its text: what it begins or ends, where it leads, what it does to
//! the text inside.

use super::entities::decode_references;
use super::styles::{
    parse_colour, Around, Properties, Sheet, Style, BLOCK, FAINT_OPACITY, INHERITED, INLINE, NONE, NORMAL,
    OUTER_COLOUR, SIZES, TINY, TRANSPARENT, UNKNOWN_COLOUR,
};
use crate::mail::charset::look_up_codec;
use crate::mail::headers::{between, latin_1};
use crate::mail::message::{Read, RARE};
use crate::tables::{list_words, Names, HTML};
use crate::text::{first, is_digit, is_space, lower, partition, split_space};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

const MAX_ADDRESS: usize = 4_096;
const BLANKS: [char; 5] = [' ', '\t', '\r', '\n', '\x0c'];
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

/// The elements that matter, by name.
static ELEMENTS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
    let kinds = [(Kind::Open, "open"), (Kind::Block, "block"), (Kind::Break, "break"), (Kind::Raw, "raw")];
    let named =
        kinds.iter().flat_map(|(kind, part)| list_words(HTML, part).into_iter().map(|name| (name, *kind)));
    named.chain([("base", Kind::Void)]).collect()
});
static WITH_BACKGROUND: Names = LazyLock::new(|| list_words(HTML, "background"));
/// Where the search for an element to end stops.
static WALLS: Names = LazyLock::new(|| list_words(HTML, "walls"));

/// The elements that the start tag of a block ends.
fn find_ends(name: &str) -> &'static [&'static str] {
    match name {
        "td" | "th" => &["td", "th"],
        "tr" => &["tr"],
        "li" => &["li"],
        "table" => &[],
        _ => &["p"],
    }
}

/// One start or end tag; see Tag in Python for each field.
#[derive(Default)]
pub struct Tag {
    pub is_start: bool,
    pub name: &'static str, // "" if nothing depends on it
    pub kind: Kind,
    pub ends: &'static [&'static str],
    pub stops: &'static [&'static str],
    /// What it changes of what a text inherits, if it has a look at all.
    pub inherited: [Option<f64>; INHERITED.len()],
    pub is_gone: bool,
    pub around: Around,
    pub has_look: bool,
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
        let is_start = !text.starts_with('/');
        let bare = text.strip_prefix('/').unwrap_or(text);
        let end = bare.find(|character| character == '/' || is_space(character)).unwrap_or(bare.len());
        let (written, after) = bare.split_at(end);
        let written = lower(written)?;
        let mut tag = Tag { is_start, ..Tag::default() };
        if let Some((name, kind)) = ELEMENTS.get_key_value(written.as_ref()) {
            (tag.name, tag.kind, tag.ends) = (name, *kind, std::slice::from_ref(name));
        }
        if is_start {
            tag.read_start(&written, &Attributes::read(after)?, sheet, around)?;
        } else if !matches!(tag.kind, Kind::Open | Kind::Block) || matches!(tag.name, "html" | "body") {
            tag.kind = if tag.name == "br" { Kind::Break } else { Kind::Void };
        } else {
            tag.kind = Kind::Close;
        }
        tag.stops = if WITH_BACKGROUND.contains(&tag.name) { &["table"] } else { &WALLS };
        tag.is_noted = tag.name == "a"
            || tag.link.as_ref().is_some_and(|link| !link.is_empty())
            || !(tag.alt.is_empty() && tag.shown.is_empty() && tag.pictures.is_empty());
        Ok(tag)
    }

    /// written : its name in lower case, whether it is known or not
    fn read_start(
        &mut self,
        written: &str,
        found: &Attributes,
        sheet: &mut Sheet,
        around: Around,
    ) -> Read<()> {
        if matches!(self.name, "svg" | "math" | "base" | "bdo") {
            return Err(RARE);
        }
        self.ends = find_ends(self.name);
        let marks = sheet.find_marks(written, found.get("id").unwrap_or(" "), found.text("class"));
        let values = self.find_properties(found, &sheet.find_rules(&marks, around))?;
        self.settle(&values);
        self.around = sheet.find_asked(&marks);
        self.has_look = self.is_gone || self.around != 0 || self.inherited.iter().any(Option::is_some);
        self.link = find_target(written, found)?;
        self.alt = found.text("alt").to_string();
        let is_css = lower(found.get("type").unwrap_or("css"))?.contains("css");
        self.media = lower(if is_css { found.text("media") } else { "none" })?.into_owned();
        self.shown = find_shown(self.name, found)?;
        Ok(())
    }

    /// What attributes, rules and style say together, each stronger than the one before.
    fn find_properties(&mut self, found: &Attributes, rules: &[Rc<Style>]) -> Read<Properties> {
        let mut values = self.find_presentation(found)?;
        let written = found.text("style");
        let lower_case = lower(written)?;
        let find = |piece| partition(piece, ")").0.trim_matches(is_space).trim_matches(['\'', '"']);
        let mut pictures: Vec<&str> = lower_case.split("url(").skip(1).map(find).collect();
        pictures.extend(["src", "background"].iter().filter_map(|name| found.get(name)));
        pictures.extend(list_candidates(found.text("srcset")));
        self.pictures = pictures.into_iter().map(cut_address).collect();
        let own = Style::read(written)?;
        rules.iter().for_each(|style| values.extend(&style.plain));
        values.extend(&own.plain);
        rules.iter().for_each(|style| values.extend(&style.important));
        values.extend(&own.important);
        Ok(values)
    }

    /// What the element and its attributes, except style, say.
    fn find_presentation(&self, found: &Attributes) -> Read<Properties> {
        let name = self.name;
        let has_background = WITH_BACKGROUND.contains(&name);
        let mut values = Properties::default();
        if matches!(name, "datalist" | "rp" | "template") {
            values.insert("display", NONE);
        }
        if matches!(name, "button" | "mark" | "select") || (name == "a" && found.get("href").is_some()) {
            values.insert("colour", UNKNOWN_COLOUR); // its own one
        }
        if name == "font" && is_digit(first(found.text("size").trim_matches(['+', '-', ' ']), 1))? {
            values.insert("size", NORMAL);
        }
        if name == "blockquote" && found.quotes() {
            values.insert("quoted", 1.0);
        }
        if has_background && found.get("background").is_some() {
            values.insert("background", UNKNOWN_COLOUR);
        }
        for (attribute, property, is_read) in [
            ("bgcolor", "background", has_background),
            ("text", "colour", name == "body"),
            ("color", "colour", name == "font"),
        ] {
            if let Some(value) = found.get(attribute).filter(|_| is_read) {
                let value = lower(value.trim_matches(is_space))?;
                // Also without its `#`; a number is larger than UNKNOWN_COLOUR and TRANSPARENT.
                let colour = parse_colour(&value)?.max(parse_colour(&format!("#{value}"))?);
                values.insert(property, colour);
            }
        }
        Ok(values)
    }

    /// Find what the values do to the element and the text in it.
    fn settle(&mut self, values: &Properties) {
        let get = |property: &str| values.get(property).copied();
        let display = get("display").unwrap_or(if self.kind == Kind::Block { BLOCK } else { INLINE });
        if display == INLINE && self.kind == Kind::Block {
            self.kind = Kind::Open;
        } else if display == BLOCK && self.kind == Kind::Open {
            (self.kind, self.ends) = (Kind::Block, &[]);
        }
        let is_outer = |name, value| value == OUTER_COLOUR || (name == "background" && value == TRANSPARENT);
        self.inherited = INHERITED.map(|name| get(name).filter(|value| !is_outer(name, *value)));
        let is_box =
            get("overflow") == Some(1.0) && display != INLINE && !WITH_BACKGROUND.contains(&self.name);
        self.is_gone = display == NONE
            || get("opacity").is_some_and(|opacity| opacity <= FAINT_OPACITY)
            || (is_box && SIZES.iter().any(|name| get(name).is_some_and(|size| size <= TINY)))
            || get("indent").is_some_and(|indent| indent <= FAR);
    }
}

/// The addresses of `a.png 1x, b.png 2x`.
fn list_candidates(srcset: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_address = true;
    for mut word in split_space(srcset) {
        if !is_address {
            (_, is_address, word) = partition(word, ",");
        }
        let address = word.trim_matches(',');
        if is_address && !address.is_empty() {
            found.push(address);
            is_address = word.ends_with(',');
        }
    }
    found
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
    Ok(target.map(cut_address))
}

fn cut_address(address: &str) -> String {
    first(address.trim_matches(is_space), MAX_ADDRESS).to_string()
}

/// The attributes of a tag, decoded, by lower-case name: the first counts.
struct Attributes<'a>(BTreeMap<Cow<'a, str>, Cow<'a, str>>);

impl<'a> Attributes<'a> {
    /// text : what follows the name of a tag
    fn read(text: &'a str) -> Read<Self> {
        let mut found = BTreeMap::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (before, _, after) = partition(rest, "=");
            let after = after.trim_start_matches(BLANKS);
            let quote = after.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
            let after = after.get(usize::from(quote.is_some())..).unwrap_or_default();
            let end = quote.map_or(after.find(BLANKS), |quote| after.find(quote)).unwrap_or(after.len());
            let (value, after) = after.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            let words = before.split(|character| character == '/' || is_space(character));
            let mut words = words.filter(|word| !word.is_empty()).peekable();
            while let Some(word) = words.next() {
                let value = if words.peek().is_none() { decode_references(value, true)? } else { "".into() };
                found.entry(lower(word)?).or_insert(value);
            }
        }
        Ok(Attributes(found))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Cow::as_ref)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// True if any of them has the word `cite` or `quote` in it.
    fn quotes(&self) -> bool {
        self.0.values().any(|value| value.contains("cite") || value.contains("quote"))
    }
}

/// The charset that a page names for itself, "" if none; UTF-16 counts as UTF-8.
pub fn find_page_charset(payload: &[u8]) -> Read<String> {
    let head = latin_1(between(payload, 0, 2_048)).to_lowercase().replace("<?xml", "<meta");
    let (first, rest) = head.split_once("<!--").unwrap_or((&head, ""));
    let shown = rest.split("<!--").map(|piece| partition(piece, "-->").2);
    let head = std::iter::once(first).chain(shown).collect::<Vec<_>>().join(" ");
    for piece in head.split("<meta").skip(1) {
        let found = Attributes::read(partition(piece, ">").0)?;
        let content = found.get("http-equiv").map_or("", |_| found.text("content"));
        let pragma = partition(content, "charset").2.trim_start_matches([' ', '=']);
        let mut names = [found.text("charset"), found.text("encoding"), pragma].into_iter();
        if let Some(name) = names.find(|name| !name.is_empty()) {
            let name = if look_up_codec(name).starts_with("utf_16") { "utf-8" } else { name };
            return Ok(name.to_string());
        }
    }
    Ok(String::new())
}
