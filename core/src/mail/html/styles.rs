//! nbspam/mail/html/styles.py: declarations of CSS that can hide a text, and the sheets they are in.

use crate::mail::message::{Read, RARE};
use crate::python::call;
use crate::text::{is_digit, is_space, lower, partition, split_space};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

const MAX_RULES: usize = 1_000;
const MAX_SELECTORS: i64 = 20_000;
const MAX_ASKED: usize = 100;
const MAX_LOOKS: i64 = 100_000;
const MAX_COLOUR: usize = 80; // bytes of a value
const MOST: f64 = 1e6;
pub const NORMAL: f64 = 16.0;
pub const TINY: f64 = 2.0;
pub const UNKNOWN_COLOUR: i32 = -1;
pub const TRANSPARENT: i32 = -2;
pub const FAINT_OPACITY: f64 = 0.1;

/// A set of the marks that rules want around an element: bit n is the n-th one of a sheet.
pub type Around = u128;

/// What is known of an element; the first ones are inherited by the text in it.
#[derive(Clone, Copy)]
pub enum Property {
    Quoted,
    Visibility,
    Size,
    Colour,
    Background,
    Overflow,
    Indent,
    Opacity,
    Display,
    Height,
    MaxHeight,
    Width,
    MaxWidth,
    Direction,
}
pub const INHERITED: usize = Property::Background as usize + 1;
const PROPERTIES: usize = Property::Direction as usize + 1;

// Words of `display` that matter; any other one is OTHER.
pub const NONE: f64 = 0.0;
pub const INLINE: f64 = 1.0;
pub const BLOCK: f64 = 2.0; // table and flex, too
const OTHER: f64 = 3.0;

/// Numbers by property: colours are 0xRRGGBB; what is true or not is 1 or 0.
#[derive(Clone, Copy, Default)]
pub struct Properties([Option<f64>; PROPERTIES]);

impl Properties {
    pub fn get(&self, property: Property) -> Option<f64> {
        self.0.get(property as usize).copied().flatten()
    }

    pub fn set(&mut self, property: Property, value: f64) {
        if let Some(place) = self.0.get_mut(property as usize) {
            *place = Some(value);
        }
    }

    pub fn update(&mut self, stronger: &Properties) {
        for (value, other) in self.0.iter_mut().zip(stronger.0) {
            *value = other.or(*value);
        }
    }

    /// Those that a text inherits.
    pub fn inherited(&self) -> [Option<f64>; INHERITED] {
        std::array::from_fn(|index| self.0.get(index).copied().flatten())
    }
}

/// What a unit is in pixels.
fn pixels(unit: &str) -> Option<f64> {
    Some(match unit {
        "px" | "" => 1.0,
        "pt" => 4.0 / 3.0,
        "em" | "rem" | "pc" => 16.0,
        "%" => 6.0,
        "in" => 96.0,
        "cm" => 37.8,
        "mm" => 3.8,
        "ex" | "ch" | "vh" => 8.0,
        "vw" => 10.0,
        _ => return None,
    })
}

/// A number, within MOST, times what its unit is.
fn parse_number(value: &str, units: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let digits = value.trim_end_matches(|character: char| character.is_ascii_lowercase() || character == '%');
    let unit = units(value.get(digits.len()..)?)?;
    let number = parse_float(digits)? * unit;
    let least = if MOST < number { MOST } else { number };
    Some(if least > -MOST { least } else { -MOST }) // so -MOST if it is not a number
}

/// `float(text)` of ASCII: with blanks around, and underscores between digits, which are rare.
fn parse_float(text: &str) -> Option<f64> {
    if text.contains('_') {
        return call("builtins", "float", (text,)).ok();
    }
    text.trim_matches(|character| matches!(character, '\t'..='\r' | ' ')).parse().ok()
}

/// Pixels, or a number without unit.
fn parse_length(value: &str) -> Option<f64> {
    if matches!(value, "auto" | "none") {
        return Some(MOST);
    }
    parse_number(value, pixels)
}

fn parse_opacity(value: &str) -> Option<f64> {
    parse_number(value, |unit| match unit {
        "" => Some(1.0),
        "%" => Some(0.01),
        _ => None,
    })
}

/// Pixels, as if the size around were NORMAL.
fn parse_letter_size(value: &str) -> Option<f64> {
    if ["small", "medium", "large", "initial", ")"].iter().any(|word| value.ends_with(word)) {
        return Some(NORMAL);
    }
    let letters = |unit: &str| if unit == "%" { Some(NORMAL / 100.0) } else { pixels(unit) };
    parse_number(value, letters).filter(|size| *size >= 0.0)
}

/// The size of letters in `bold 12px/1.5 Arial`; a number without a unit is their weight.
fn parse_font(value: &str) -> Read<Option<f64>> {
    for word in
        split_space(value).take(6).filter(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    {
        let (size, _, _) = partition(word, "/");
        if size == "0" || !is_digit(size)? {
            return Ok(parse_letter_size(size));
        }
    }
    Ok(None)
}

/// The colour of a value in lower case.
pub fn parse_colour(value: &str) -> Read<i32> {
    Ok(match value {
        "black" => 0,
        "silver" => 0xC0C0C0,
        "gray" | "grey" => 0x808080,
        "white" => 0xFFFFFF,
        "maroon" => 0x800000,
        "red" => 0xFF0000,
        "purple" => 0x800080,
        "fuchsia" => 0xFF00FF,
        "green" => 0x8000,
        "lime" => 0xFF00,
        "olive" => 0x808000,
        "yellow" => 0xFFFF00,
        "navy" => 0x80,
        "blue" => 0xFF,
        "teal" => 0x8080,
        "aqua" => 0xFFFF,
        "azure" => 0xF0FFFF,
        "floralwhite" => 0xFFFAF0,
        "ghostwhite" => 0xF8F8FF,
        "ivory" => 0xFFFFF0,
        "snow" => 0xFFFAFA,
        "whitesmoke" => 0xF5F5F5,
        "transparent" | "none" => TRANSPARENT,
        _ => match value.strip_prefix('#') {
            Some(digits) => parse_digits(digits),
            None => return parse_colour_function(value),
        },
    })
}

/// The colour of `fff`, `ffff`, `ffffff` or `ffffffff`.
fn parse_digits(digits: &str) -> i32 {
    if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return UNKNOWN_COLOUR;
    }
    let Ok(number) = u32::from_str_radix(digits, 16) else { return UNKNOWN_COLOUR };
    let (colour, opacity) = match digits.len() {
        3 => (double(number), 255),
        4 => (double(number >> 4), (number & 15) * 17),
        6 => (number, 255),
        8 => (number >> 8, number & 255),
        _ => return UNKNOWN_COLOUR,
    };
    if f64::from(opacity) <= 255.0 * FAINT_OPACITY {
        return TRANSPARENT;
    }
    colour as i32
}

/// 0xABC -> 0xAABBCC
fn double(colour: u32) -> u32 {
    ((colour >> 8) << 16 | (colour >> 4 & 15) << 8 | colour & 15) * 17
}

/// The colour of `rgb(255, 0, 0)`; of another function by Python.
fn parse_colour_function(value: &str) -> Read<i32> {
    if !value.contains('(') {
        return Ok(UNKNOWN_COLOUR);
    }
    let inside = value.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    let inside = inside.filter(|_| value.len() < MAX_COLOUR).unwrap_or_default();
    let channels = inside.split(',').map(|channel| channel.trim_start_matches(' ').parse::<u8>().ok());
    match channels.collect::<Vec<_>>()[..] {
        [Some(red), Some(green), Some(blue)] => {
            Ok(i32::from(red) << 16 | i32::from(green) << 8 | i32::from(blue))
        }
        _ => call("nbspam.mail.html.styles", "parse_colour", (value,)),
    }
}

/// The colour of a background; UNKNOWN_COLOUR if it is a picture.
fn parse_background(value: &str) -> Read<i32> {
    if value.contains("gradient(") {
        return Ok(UNKNOWN_COLOUR);
    }
    if let Some(start) = value.find("rgb").max(value.find("hsl")) {
        return parse_colour(value.get(start..).unwrap_or_default());
    }
    for word in split_space(value).take(20) {
        let colour = parse_colour(word)?;
        if colour != UNKNOWN_COLOUR {
            return Ok(colour);
        }
    }
    Ok(UNKNOWN_COLOUR)
}

const DISPLAYS: &str =
    "none inline block table flex grid inline-block inline-table inline-flex inline-grid list-item contents \
     flow flow-root run-in ruby table-row table-cell table-caption table-row-group table-header-group \
     table-footer-group table-column table-column-group -webkit-box -webkit-inline-box -webkit-flex";

/// True if a value is of these words: browsers ignore one that they do not know.
fn has_words(value: &str, known: &str) -> bool {
    let is_known = |word: &str| {
        known.split(' ').chain(["initial", "inherit", "unset", "revert"]).any(|known| known == word)
    };
    !value.is_empty() && split_space(value).all(is_known)
}

fn parse_display(value: &str) -> f64 {
    match value {
        "none" => NONE,
        "inline" => INLINE,
        "block" | "table" | "flex" => BLOCK,
        _ => OTHER,
    }
}

/// What a declaration in lower case says that may hide something.
fn read_declaration(name: &str, value: &str) -> Read<Option<(Property, f64)>> {
    let is = |condition: bool| Some(f64::from(u8::from(condition)));
    let (property, found) = match name {
        "color" => (Property::Colour, Some(f64::from(parse_colour(value)?))),
        "background" | "background-color" => {
            (Property::Background, Some(f64::from(parse_background(value)?)))
        }
        "background-image" => {
            (Property::Background, value.contains('(').then_some(f64::from(UNKNOWN_COLOUR)))
        }
        "font-size" => (Property::Size, parse_letter_size(value)),
        "font" => (Property::Size, parse_font(value)?),
        "overflow" | "overflow-y" if has_words(value, "visible hidden scroll auto clip overlay") => {
            (Property::Overflow, is(value == "hidden"))
        }
        "text-indent" => (Property::Indent, parse_length(value)),
        "opacity" => (Property::Opacity, parse_opacity(value)),
        "unicode-bidi" if value.ends_with("override") => return Err(RARE),
        "unicode-bidi" | "direction" => (Property::Direction, is(true)), // which hides nothing
        "display" if has_words(value, DISPLAYS) => (Property::Display, Some(parse_display(value))),
        "visibility" if has_words(value, "visible hidden collapse") => {
            (Property::Visibility, is(!matches!(value, "hidden" | "collapse")))
        }
        "height" => (Property::Height, parse_length(value)),
        "max-height" => (Property::MaxHeight, parse_length(value)),
        "width" => (Property::Width, parse_length(value)),
        "max-width" => (Property::MaxWidth, parse_length(value)),
        _ => return Ok(None),
    };
    Ok(found.map(|value| (property, value)))
}

/// What declarations say that may hide something; what is `!important` is stronger than all else.
#[derive(Default)]
pub struct Style {
    pub plain: Properties,
    pub important: Properties,
    says_something: bool,
}

impl Style {
    pub fn read(declarations: &str) -> Read<Style> {
        let mut style = Style::default();
        for declaration in lower(&remove_comments(declarations))?.split(';') {
            let (name, _, value) = partition(declaration, ":");
            let (value, is_marked, word) = partition(value, "!");
            if is_marked && word.trim_matches(is_space) != "important" {
                continue;
            }
            if let Some((property, value)) =
                read_declaration(name.trim_matches(is_space), value.trim_matches(is_space))?
            {
                style.says_something = true;
                let kept = if is_marked { &mut style.important } else { &mut style.plain };
                kept.set(property, value);
            }
        }
        Ok(style)
    }
}

fn remove_comments(css: &str) -> Cow<'_, str> {
    if memmem::find(css.as_bytes(), b"/*").is_none() {
        return Cow::Borrowed(css);
    }
    let mut pieces = css.split("/*");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| partition(piece, "*/").2);
    Cow::Owned(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" "))
}

fn remove<'a>(text: Cow<'a, str>, mark: &str) -> Cow<'a, str> {
    if memmem::find(text.as_bytes(), mark.as_bytes()).is_some() {
        Cow::Owned(text.replace(mark, ""))
    } else {
        text
    }
}

/// `p.a#b` -> `p`, `.a`, `#b`
fn split_marks(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let after_first = rest.chars().next()?.len_utf8();
        let next = rest.get(after_first..)?.find(['.', '#']);
        let (mark, after) = rest.split_at(next.map_or(rest.len(), |place| place + after_first));
        rest = after;
        Some(mark)
    })
}

/// Numbers of ids, of classes and of all marks, and the number of the rule: the heaviest rule is the strongest.
type Weight = (usize, usize, usize, usize);

struct Rule {
    around: Around,
    marks: Vec<usize>,
    style: Rc<Style>,
    weight: Weight,
}

/// The marks of an element that a sheet knows.
#[derive(Default)]
pub struct Marks {
    pub asked: Around,
    own: Vec<usize>, // ascending
}

/// The rules of a page's style elements.
pub struct Sheet {
    rules: Vec<Rule>,
    by_mark: HashMap<usize, Vec<usize>>,
    numbers: HashMap<String, usize>, // of marks of rules
    asked: HashMap<String, Around>,  // marks that rules want around, one bit each
    pub parents: Around,             // those of them that only a child wants
    size: usize,
    unread: i64,
    looks: i64,
}

impl Sheet {
    pub fn new() -> Self {
        Sheet {
            rules: Vec::new(),
            by_mark: HashMap::new(),
            numbers: HashMap::new(),
            asked: HashMap::from([("svg".to_string(), 1)]),
            parents: 0,
            size: 0,
            unread: MAX_SELECTORS,
            looks: MAX_LOOKS,
        }
    }

    /// Add the rules of a style element that hold on a wide screen.
    pub fn read(&mut self, css: &str) -> Read<()> {
        let mut held = vec![true]; // for the sheet, and for each @-block that is open
        let css = remove(remove(remove_comments(css), "<!--"), "-->");
        for chunk in lower(&css)?.split('}') {
            let Some((heads, body)) = chunk.rsplit_once('{') else {
                if held.len() > 1 {
                    held.pop();
                }
                continue;
            };
            let (outer, head) =
                heads.rsplit_once('{').map_or((None, heads), |(outer, head)| (Some(outer), head));
            for block in outer.iter().flat_map(|outer| outer.split('{')) {
                let (_, is_at, media) = partition(block, "@");
                let holds = held.last() == Some(&true) && (!is_at || is_screen(media));
                held.push(holds);
            }
            if held.last() == Some(&true) && body.contains(':') {
                self.add_rules(head.rsplit_once(';').map_or(head, |(_, head)| head), body)?;
            }
        }
        Ok(())
    }

    /// Add a rule for each selector of a list of them.
    fn add_rules(&mut self, head: &str, body: &str) -> Read<()> {
        self.unread -= 1 + head.matches(',').count() as i64;
        if head.contains('@') || self.unread < 0 {
            return Ok(());
        }
        let style = Rc::new(Style::read(body)?);
        if style.says_something {
            for selector in head.replace('>', " > ").split(',') {
                self.add(selector, &style);
            }
        }
        Ok(())
    }

    /// Add a rule, unless its selector asks for more than elements and those around them.
    fn add(&mut self, selector: &str, style: &Rc<Style>) {
        if selector.contains([':', '[', '+', '~', '\\', '(', '&']) || self.size >= MAX_RULES {
            return;
        }
        let mut words: Vec<&str> = split_space(selector).collect();
        if words.first() == Some(&">") || words.last() == Some(&">") {
            return;
        }
        let is_child = words.iter().rev().nth(1) == Some(&">");
        words.retain(|word| *word != ">");
        let Some((last, outer)) = words.split_last().filter(|_| words.len() <= MAX_ASKED) else { return };
        self.size += 1;
        let own: Vec<&str> = split_marks(last).collect();
        let around: Vec<&str> = outer.iter().flat_map(|word| split_marks(word)).collect();
        let parent = outer.last().filter(|_| is_child).map_or(0, |word| split_marks(word).count());
        let all = || around.iter().chain(&own);
        let ids = all().filter(|mark| mark.starts_with('#')).count();
        let classes = all().filter(|mark| mark.starts_with('.')).count();
        let weight = (ids, classes, all().count(), self.size);
        let is_parent = |place: usize| place + parent >= around.len();
        let named = around.iter().enumerate();
        let asked =
            named.map(|(place, mark)| if is_parent(place) { format!(">{mark}") } else { mark.to_string() });
        let Some(around) = self.ask(asked.collect()) else { return };
        let Some(rarest) = own.iter().min().map(|mark| self.number(mark)) else { return };
        let mut marks: Vec<usize> = own.iter().map(|mark| self.number(mark)).collect();
        marks.sort_unstable();
        marks.dedup();
        self.by_mark.entry(rarest).or_default().push(self.rules.len());
        self.rules.push(Rule { around, marks, style: Rc::clone(style), weight });
    }

    /// The bits of marks that a rule wants around; None if they are too many.
    fn ask(&mut self, mut marks: Vec<String>) -> Option<Around> {
        marks.retain(|mark| !matches!(mark.as_str(), "*" | ">*"));
        marks.sort_unstable();
        marks.dedup();
        if marks.len() + self.asked.len() > MAX_ASKED {
            return None;
        }
        let mut bits = 0;
        for mark in marks {
            let next = 1 << self.asked.len();
            let is_parent = mark.starts_with('>');
            let bit = *self.asked.entry(mark).or_insert(next);
            bits |= bit;
            self.parents |= if is_parent { bit } else { 0 };
        }
        Some(bits)
    }

    /// True if there is a rule for `body` alone.
    pub fn asks_for_body(&self) -> bool {
        let Some(body) = self.numbers.get("body") else { return false };
        let places = self.by_mark.get(body).into_iter().flatten();
        places.filter_map(|place| self.rules.get(*place)).any(|rule| rule.marks == [*body])
    }

    fn number(&mut self, mark: &str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(mark.to_string()).or_insert(next)
    }

    /// What is known of the marks of an element: its name, id, classes and `*`.
    pub fn find_marks(&self, name: &str, id: &str, classes: &str) -> Read<Marks> {
        let mut marks = Marks::default();
        if self.rules.is_empty() {
            return Ok(marks);
        }
        let mut add = |mark: &str| {
            marks.asked |= self.asked.get(mark).unwrap_or(&0);
            if self.parents != 0 {
                marks.asked |= self.asked.get(&format!(">{mark}")).unwrap_or(&0);
            }
            marks.own.extend(self.numbers.get(mark));
        };
        add(name);
        add("*");
        add(&format!("#{}", lower(id)?));
        for class in split_space(&lower(classes)?) {
            add(&format!(".{class}"));
        }
        marks.own.sort_unstable();
        marks.own.dedup();
        Ok(marks)
    }

    /// The styles of the rules for an element, weakest first.
    pub fn find_rules(&mut self, marks: &Marks, around: Around) -> Vec<Rc<Style>> {
        if self.looks <= 0 {
            return Vec::new();
        }
        let places = marks.own.iter().filter_map(|mark| self.by_mark.get(mark)).flatten();
        let asked: Vec<&Rule> = places.filter_map(|place| self.rules.get(*place)).collect();
        self.looks -= asked.len() as i64;
        let has = |rule: &&Rule| {
            rule.around & !around == 0 && rule.marks.iter().all(|mark| marks.own.binary_search(mark).is_ok())
        };
        let mut found: Vec<&Rule> = asked.into_iter().filter(has).collect();
        found.sort_unstable_by_key(|rule| rule.weight);
        found.into_iter().map(|rule| Rc::clone(&rule.style)).collect()
    }
}

/// True if a list of media, or an @-block without its @, holds on a wide, light screen; in lower case.
pub fn is_screen(media: &str) -> bool {
    const OTHERS: [&str; 8] =
        ["print", "max-width", "max-device-width", "dark", "not ", "supports", "keyframes", "layer"];
    media.split(',').any(|medium| !OTHERS.iter().any(|other| medium.contains(other)))
}
