//! nbspam/mail/html/styles.py: declarations of CSS that can hide a text, and the sheets they are in.

use crate::mail::message::{Read, RARE};
use crate::tables::{list_pairs, list_words, Names, HTML};
use crate::text::{is_digit, is_space, lower, partition, rpartition, split_space};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

const MAX_RULES: usize = 1_000;
const MAX_SELECTORS: i64 = 20_000;
const MAX_ASKED: usize = 100;
const MAX_LOOKS: i64 = 100_000;
const MAX_COLOUR: usize = 80; // bytes of a value
pub const MOST: f64 = 1e6;
pub const NORMAL: f64 = 16.0;
pub const TINY: f64 = 2.0;
pub const UNKNOWN_COLOUR: f64 = -1.0;
pub const TRANSPARENT: f64 = -2.0;
pub const OUTER_COLOUR: f64 = -2.0 * MOST;
pub const FAINT_OPACITY: f64 = 0.1;

/// A set of the marks that rules want around an element: bit n is the n-th one of a sheet.
pub type Around = u128;

/// Numbers by property: colours are 0xRRGGBB; what is true or not is 1 or 0.
pub type Properties = BTreeMap<&'static str, f64>;
/// What a text inherits of them.
pub const INHERITED: [&str; 5] = ["quoted", "visibility", "size", "colour", "background"];
pub const SIZES: [&str; 4] = ["height", "max-height", "width", "max-width"];

// Words of `display` that matter; any other one is OTHER.
pub const NONE: f64 = 0.0;
pub const INLINE: f64 = 1.0;
pub const BLOCK: f64 = 2.0; // table and flex, too
const OTHER: f64 = 3.0;

static COLOURS: LazyLock<HashMap<&str, f64>> = LazyLock::new(|| {
    let colours = list_pairs(HTML, "colours").into_iter();
    let colours =
        colours.map(|(name, digits)| (name, u32::from_str_radix(digits, 16).map_or(0.0, f64::from)));
    let none = [("transparent", TRANSPARENT), ("none", TRANSPARENT), ("initial", UNKNOWN_COLOUR)];
    let outer = ["inherit", "unset", "currentcolor"].map(|name| (name, OUTER_COLOUR));
    colours.chain(none).chain(outer).collect()
});
/// What a unit is in pixels.
static PIXELS: LazyLock<Vec<(&str, f64)>> = LazyLock::new(|| {
    let sizes = list_pairs(HTML, "lengths").into_iter();
    sizes.map(|(unit, size)| (unit, size.parse().unwrap_or_default())).collect()
});
static DISPLAYS: Names = LazyLock::new(|| list_words(HTML, "display"));
static OVERFLOWS: Names = LazyLock::new(|| list_words(HTML, "overflow"));
static VISIBILITIES: Names = LazyLock::new(|| list_words(HTML, "visibility"));
static ANY: Names = LazyLock::new(|| list_words(HTML, "any"));
const SHARE: [(&str, f64); 2] = [("", 1.0), ("%", 0.01)];
/// To the size of letters around.
const RELATIVE: [(&str, f64); 4] = [("em", -1.0), ("%", -0.01), ("ex", -0.5), ("ch", -0.5)];
/// Of a screen: what the narrowest has, and the widest, on which mail is read.
const WIDTHS: (f64, f64) = (800.0, 2_000.0);
const RESOLUTIONS: (f64, f64) = (1.0, 4.0);
const RESOLUTION: [(&str, f64); 3] = [("dppx", 1.0), ("x", 1.0), ("dpi", 1.0 / 96.0)];

/// A number, within MOST, times what its unit is, which 0 does not need.
fn parse_number(value: &str, units: &[(&str, f64)]) -> Option<f64> {
    let digits = value.trim_end_matches(|character: char| character.is_ascii_lowercase() || character == '%');
    let own = value.get(digits.len()..)?;
    let unit = units.iter().find(|(unit, _)| *unit == own).map(|(_, size)| *size);
    let unit = unit.or(value.trim_matches(['+', '-', '.', '0']).is_empty().then_some(0.0))?;
    let is_whole = digits.ends_with(|last: char| last.is_ascii_digit());
    let number: f64 = digits.parse().ok().filter(|_| is_whole)?;
    Some((number * unit).clamp(-MOST, MOST))
}

/// Pixels.
fn parse_length(value: &str) -> Option<f64> {
    if matches!(value, "auto" | "none") {
        return Some(MOST);
    }
    parse_number(value, &PIXELS)
}

/// Pixels, or less than 0: minus a share of the size around.
fn parse_letter_size(value: &str) -> Option<f64> {
    if ["small", "medium", "large", "initial", ")"].iter().any(|word| value.ends_with(word)) {
        return Some(NORMAL);
    }
    let is_relative = RELATIVE.iter().any(|(unit, _)| value.ends_with(unit)) && !value.ends_with("rem");
    let units: &[_] = if is_relative { &RELATIVE } else { &PIXELS };
    parse_number(value, units).filter(|_| !value.starts_with('-'))
}

/// The size of letters in `bold 12px/1.5 Arial`; a number without a unit is their weight.
fn parse_font(value: &str) -> Read<Option<f64>> {
    let words: Vec<&str> = if value.contains([':', '}']) { vec![] } else { split_space(value).collect() };
    for word in words.split_last().map_or(&[][..], |(_, words)| words).iter().take(6) {
        let size = partition(word, "/").0;
        if size.starts_with(|first: char| first.is_ascii_digit() || first == '.')
            && (size == "0" || !is_digit(size)?)
        {
            return Ok(parse_letter_size(size));
        }
    }
    Ok(None)
}

/// The colour of a value in lower case.
pub fn parse_colour(value: &str) -> Read<f64> {
    let Some(digits) = value.strip_prefix('#') else {
        return match COLOURS.get(value) {
            Some(colour) => Ok(*colour),
            None if value.starts_with("rgb") || value.starts_with("hsl") => parse_colour_function(value),
            None => Ok(UNKNOWN_COLOUR),
        };
    };
    if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(UNKNOWN_COLOUR);
    }
    let number = u32::from_str_radix(digits, 16).unwrap_or_default();
    match digits.len() {
        // The last one or two digits are its opacity.
        4 if number & 0xf <= 1 => Ok(TRANSPARENT),
        8 if number & 0xff <= 25 => Ok(TRANSPARENT),
        3 | 4 => {
            let number = number >> (4 * (digits.len() - 3));
            Ok(f64::from(((number >> 8) << 16 | (number >> 4 & 15) << 8 | number & 15) * 17))
        }
        6 | 8 => Ok(f64::from(number >> (4 * (digits.len() - 6)))),
        _ => Ok(UNKNOWN_COLOUR),
    }
}

/// The colour of `rgb(255, 0, 0)` and `rgba(255, 0, 0, .5)`; another function is rare.
fn parse_colour_function(value: &str) -> Read<f64> {
    let inside =
        value.strip_prefix("rgba(").or(value.strip_prefix("rgb(")).and_then(|rest| rest.strip_suffix(')'));
    let inside = inside.filter(|_| value.len() < MAX_COLOUR).unwrap_or_default();
    let words: Vec<&str> = inside.split(',').map(|word| word.trim_start_matches(' ')).collect();
    let channels: Vec<u8> = words.iter().take(3).filter_map(|word| word.parse().ok()).collect();
    let opacity = words.get(3).map_or(Some(1.0), |word| parse_number(word, &[("", 1.0)]));
    match (&channels[..], opacity) {
        ([_, _, _], Some(opacity)) if words.len() <= 4 && opacity <= FAINT_OPACITY => Ok(TRANSPARENT),
        ([red, green, blue], Some(_)) if words.len() <= 4 => {
            Ok(f64::from(u32::from_be_bytes([0, *red, *green, *blue])))
        }
        _ => Err(RARE),
    }
}

/// The colour of a background; UNKNOWN_COLOUR if it is a picture.
fn parse_background(value: &str) -> Read<f64> {
    if value.contains("gradient(") {
        return Ok(UNKNOWN_COLOUR);
    }
    if let Some(start) = value.find("rgb").max(value.find("hsl")) {
        return parse_colour(value.get(start..).unwrap_or_default());
    }
    let mut colours = split_space(value).take(20).map(parse_colour);
    colours.find(|colour| *colour != Ok(UNKNOWN_COLOUR)).unwrap_or(Ok(UNKNOWN_COLOUR))
}

/// True if a value is of these words: browsers ignore one that they do not know.
fn has_words(value: &str, known: &[&str]) -> bool {
    !value.is_empty() && split_space(value).all(|word| known.contains(&word) || ANY.contains(&word))
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
fn read_declaration(name: &str, value: &str) -> Read<Option<(&'static str, f64)>> {
    let is = |condition: bool| Some(f64::from(u8::from(condition)));
    let (property, found) = match name {
        "color" if value.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            ("colour", COLOURS.get(value).copied())
        }
        "color" => ("colour", Some(parse_colour(value)?)),
        "background" | "background-color" => ("background", Some(parse_background(value)?)),
        "background-image" => ("background", value.contains('(').then_some(UNKNOWN_COLOUR)),
        "font-size" => ("size", parse_letter_size(value)),
        "font" => ("size", parse_font(value)?),
        "overflow" | "overflow-y" if has_words(value, &OVERFLOWS) => ("overflow", is(value == "hidden")),
        "text-indent" => ("indent", parse_length(value)),
        "opacity" => ("opacity", parse_number(value, &SHARE)),
        "unicode-bidi" if value.ends_with("override") => return Err(RARE),
        "unicode-bidi" | "direction" => ("direction", is(true)), // which hides nothing
        "display" if has_words(value, &DISPLAYS) => ("display", Some(parse_display(value))),
        "visibility" if has_words(value, &VISIBILITIES) => {
            ("visibility", is(!matches!(value, "hidden" | "collapse")))
        }
        _ => match SIZES.iter().find(|size| **size == name) {
            Some(size) => (*size, parse_length(value)),
            None => return Ok(None),
        },
    };
    Ok(found.map(|value| (property, value)))
}

/// What declarations say that may hide something; what is `!important` is stronger than all else.
#[derive(Default)]
pub struct Style {
    pub plain: Properties,
    pub important: Properties,
}

impl Style {
    pub fn read(declarations: &str) -> Read<Style> {
        let mut style = Style::default();
        for declaration in lower(&remove_comments(declarations))?.split(';') {
            let (name, _, value) = partition(declaration, ":");
            let (value, is_marked, word) = partition(value, "!");
            let found = read_declaration(name.trim_matches(is_space), value.trim_matches(is_space))?;
            if !is_marked {
                style.plain.extend(found);
            } else if word.trim_matches(is_space) == "important" {
                style.important.extend(found);
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

/// Numbers of ids, of classes and of all marks, and the number of the rule: the heaviest rule is the strongest.
type Weight = (usize, usize, usize, usize);

struct Rule {
    around: Around,
    marks: Vec<String>,
    style: Rc<Style>,
    weight: Weight,
}

/// The rules of a page's style elements, by one of their marks.
pub struct Sheet {
    rules: HashMap<String, Vec<Rule>>,
    asked: HashMap<String, Around>, // marks that rules want around, one bit each
    pub parents: Around,            // those of them that only a child wants
    size: usize,
    unread: i64,
    looks: i64,
}

impl Default for Sheet {
    fn default() -> Self {
        let asked = HashMap::from([("svg".to_string(), 1)]);
        Sheet { rules: HashMap::new(), asked, parents: 0, size: 0, unread: MAX_SELECTORS, looks: MAX_LOOKS }
    }
}

impl Sheet {
    /// Add the rules of a style element that hold on a wide screen.
    pub fn read(&mut self, css: &str) -> Read<()> {
        let mut held: Vec<bool> = Vec::new(); // for each block that is open
        let mut is_spoilt = false; // by a brace that closes nothing
        let css = remove_comments(css).replace("<!--", "").replace("-->", "");
        for chunk in css.split('}') {
            let mut heads: Vec<&str> = chunk.split('{').collect();
            let body = heads.pop().unwrap_or_default();
            let Some(head) = heads.pop() else {
                is_spoilt = held.pop().is_none();
                continue;
            };
            for block in heads {
                let block = lower(rpartition(block, ";").2.trim_matches(is_space))?;
                let is_met = block.strip_prefix("@media").is_some_and(is_screen);
                held.push(*held.last().unwrap_or(&!is_spoilt) && is_met);
            }
            if *held.last().unwrap_or(&!is_spoilt) && body.contains(':') {
                self.add_rules(if head.contains('@') { rpartition(head, ";").2 } else { head }, body)?;
            }
            is_spoilt = false;
        }
        Ok(())
    }

    /// Add a rule for each selector of a list, if none asks for more than elements and those around.
    fn add_rules(&mut self, head: &str, body: &str) -> Read<()> {
        self.unread -= 1 + head.matches(',').count() as i64;
        if head.contains('@') || self.unread < 0 {
            return Ok(());
        }
        let style = Rc::new(Style::read(body)?);
        let head = head.replace('>', " > ");
        let has_words = !style.plain.is_empty() || !style.important.is_empty();
        if has_words && head.split(',').all(is_plain) {
            head.split(',').try_for_each(|selector| self.add(selector, &style))?;
        }
        Ok(())
    }

    fn add(&mut self, selector: &str, style: &Rc<Style>) -> Read<()> {
        if self.size >= MAX_RULES {
            return Ok(());
        }
        let written: Vec<&str> = split_space(selector).collect();
        let words = written.iter().filter(|word| **word != ">").map(|word| split_marks(word));
        let words: Vec<Vec<String>> = words.collect::<Read<_>>()?;
        let Some((own, outer)) = words.split_last().filter(|_| words.len() <= MAX_ASKED) else {
            return Ok(());
        };
        self.size += 1;
        let all = || words.iter().flatten();
        let ids = all().filter(|mark| mark.starts_with('#')).count();
        let classes = all().filter(|mark| mark.starts_with('.')).count();
        let weight = (ids, classes, all().count(), self.size);
        let (far, near) =
            outer.split_at(outer.len() - usize::from(written.iter().rev().nth(1) == Some(&">")));
        let near = near.iter().flatten().map(|mark| format!(">{mark}"));
        let around = far.iter().flatten().cloned().chain(near).filter(|mark| mark != "*" && mark != ">*");
        let around = around.collect();
        let (Some(around), Some(rarest)) = (self.ask(around), own.iter().min()) else { return Ok(()) };
        let rule = Rule { around, marks: own.clone(), style: Rc::clone(style), weight };
        self.rules.entry(rarest.clone()).or_default().push(rule);
        Ok(())
    }

    /// The bits of marks that a rule wants around; None if they are too many.
    fn ask(&mut self, marks: BTreeSet<String>) -> Option<Around> {
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
        self.rules.get("body").is_some_and(|rules| rules.iter().any(|rule| rule.marks == ["body"]))
    }

    /// The marks of an element that rules may ask for: its name, id, classes and `*`.
    pub fn find_marks(&self, name: &str, id: &str, classes: &str) -> BTreeSet<String> {
        if self.rules.is_empty() {
            return BTreeSet::new();
        }
        let classes = split_space(classes).map(|class| format!(".{class}"));
        classes.chain([name.to_string(), "*".to_string(), format!("#{id}")]).collect()
    }

    /// Those of an element's marks that rules want around others, with `>` for its children.
    pub fn find_asked(&self, marks: &BTreeSet<String>) -> Around {
        let find = |mark: &str| self.asked.get(mark).copied().unwrap_or_default();
        let of_children = |mark: &str| if self.parents == 0 { 0 } else { find(&format!(">{mark}")) };
        marks.iter().fold(0, |bits, mark| bits | find(mark) | of_children(mark))
    }

    /// The styles of the rules for an element, weakest first.
    pub fn find_rules(&mut self, marks: &BTreeSet<String>, around: Around) -> Vec<Rc<Style>> {
        if self.looks <= 0 {
            return Vec::new();
        }
        let mut found: Vec<&Rule> = marks.iter().filter_map(|mark| self.rules.get(mark)).flatten().collect();
        self.looks -= found.len() as i64;
        found.retain(|rule| rule.around & !around == 0 && rule.marks.iter().all(|mark| marks.contains(mark)));
        found.sort_unstable_by_key(|rule| rule.weight);
        found.into_iter().map(|rule| Rc::clone(&rule.style)).collect()
    }
}

/// True if the words of a selector are names, classes, ids, and `>` between them.
fn is_plain(selector: &str) -> bool {
    let is_named = |mark: &str| {
        let is_odd =
            |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-_.#".contains(letter);
        let name = mark.trim_start_matches(['.', '#', '-']);
        !name.is_empty() && !name.starts_with(|digit: char| digit.is_ascii_digit()) && !mark.contains(is_odd)
    };
    let marks = selector.replace('.', " .").replace('#', " #");
    let words: Vec<&str> = split_space(&marks).collect();
    let has_ends = ![None, Some(&">")].contains(&words.first()) && words.last() != Some(&">");
    has_ends && words.iter().all(|mark| matches!(*mark, "*" | ">") || is_named(mark))
}

/// `P.A#b` -> `p`, `.A`, `#b`: the case of classes and ids counts.
fn split_marks(word: &str) -> Read<Vec<String>> {
    let marks = word.replace('.', " .").replace('#', " #");
    let read = |mark: &str| Ok(if mark.starts_with(['.', '#']) { mark.into() } else { lower(mark)?.into() });
    split_space(&marks).map(read).collect()
}

/// True if a list of media, in lower case, holds on every wide, light screen.
pub fn is_screen(media: &str) -> bool {
    media.trim_matches(is_space).is_empty() || media.split(',').any(is_medium_met)
}

fn is_medium_met(medium: &str) -> bool {
    let words = split_space(medium).collect::<Vec<_>>().join(" ");
    let words = words.strip_prefix("only ").unwrap_or(&words);
    words.split(" and ").all(|each| matches!(each, "all" | "screen") || is_condition_met(each))
}

/// True if every wide screen meets a condition as `(min-width: 1em)`.
fn is_condition_met(condition: &str) -> bool {
    let inside = condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(inside) = inside else { return false };
    let (name, _, value) = partition(inside, ":");
    let (name, value) = (name.trim_matches(is_space), value.trim_matches(is_space));
    let value = if value == "0" { "0px" } else { value };
    let (bound, _, measure) = partition(name, "-");
    let is_length = value.ends_with(|last: char| last.is_ascii_lowercase());
    let (number, (least, most)) = match measure {
        "width" | "device-width" if is_length => (parse_number(value, &PIXELS), WIDTHS),
        "resolution" => (parse_number(value, &RESOLUTION), RESOLUTIONS),
        _ => return name == "orientation" && value == "landscape",
    };
    number.is_some_and(|number| bound == "min" && number <= least || bound == "max" && number >= most)
}
