//! nbspam/mail/html/styles.py: declarations of CSS that can hide a text, and the sheets they are in.

use crate::mail::message::Read;
use crate::tokens::text::{first, is_digit, is_space, lower, partition, rpartition, split_space};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

const MAX_RULES: usize = 1_000; // selectors of a page whose rules can hide something
const MAX_SELECTORS: i64 = 20_000; // of a page that are read
const MAX_ASKED: usize = 100; // marks that these want around an element
const MAX_LOOKS: i64 = 100_000; // comparisons of an element with a rule, in a page
const MOST: f64 = 1e6; // pixels
pub const NORMAL: f64 = 16.0; // pixels: the size of letters where nothing is said
pub const TINY: f64 = 2.0; // pixels
pub const UNKNOWN_COLOUR: i64 = -1;
pub const TRANSPARENT: i64 = -2;
pub const FAINT_OPACITY: f64 = 0.1;
const COLOURS: [(&str, i64); 25] = [
    ("black", 0),
    ("silver", 0xC0C0C0),
    ("gray", 0x808080),
    ("grey", 0x808080),
    ("white", 0xFFFFFF),
    ("maroon", 0x800000),
    ("red", 0xFF0000),
    ("purple", 0x800080),
    ("fuchsia", 0xFF00FF),
    ("green", 0x8000),
    ("lime", 0xFF00),
    ("olive", 0x808000),
    ("yellow", 0xFFFF00),
    ("navy", 0x80),
    ("blue", 0xFF),
    ("teal", 0x8080),
    ("aqua", 0xFFFF),
    ("azure", 0xF0FFFF),
    ("floralwhite", 0xFFFAF0),
    ("ghostwhite", 0xF8F8FF),
    ("ivory", 0xFFFFF0),
    ("snow", 0xFFFAFA),
    ("whitesmoke", 0xF5F5F5),
    ("transparent", TRANSPARENT),
    ("none", TRANSPARENT),
];

/// What one of each unit is.
type Units = &'static [(&'static str, f64)];
const PIXELS: Units = &[
    ("px", 1.0),
    ("", 1.0),
    ("pt", 4.0 / 3.0),
    ("em", 16.0),
    ("rem", 16.0),
    ("%", 6.0),
    ("in", 96.0),
    ("cm", 37.8),
    ("pc", 16.0),
    ("mm", 3.8),
    ("ex", 8.0),
    ("ch", 8.0),
    ("vw", 10.0),
    ("vh", 8.0),
];
const LETTERS: Units = &[
    ("px", 1.0),
    ("", 1.0),
    ("pt", 4.0 / 3.0),
    ("em", 16.0),
    ("rem", 16.0),
    ("%", NORMAL / 100.0),
    ("in", 96.0),
    ("cm", 37.8),
    ("pc", 16.0),
    ("mm", 3.8),
    ("ex", 8.0),
    ("ch", 8.0),
    ("vw", 10.0),
    ("vh", 8.0),
];
const DEGREES: Units = &[("", 1.0), ("deg", 1.0), ("grad", 0.9), ("rad", 57.3), ("turn", 360.0)];
const PERCENT: Units = &[("%", 1.0), ("", 1.0)];
const CHANNEL: Units = &[("", 1.0), ("%", 2.55)];
const SHARE: Units = &[("", 1.0), ("%", 0.01)];

/// Names of elements, `.class`, `#id` and `*`.
pub type Marks = BTreeSet<String>;

/// Numbers and words by property; a colour is 0xRRGGBB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    pub colour: Option<i64>,
    pub background: Option<i64>,
    pub size: Option<f64>,
    pub overflow: Option<String>,
    pub indent: Option<f64>,
    pub opacity: Option<f64>,
    pub is_override: Option<bool>,
    pub leftward: Option<bool>,
    pub display: Option<String>,
    pub visibility: Option<String>,
    /// height, max-height, width, max-width
    pub sizes: [Option<f64>; 4],
    pub shut: Option<bool>,
    pub quoted: Option<bool>,
}

impl Properties {
    /// Take over what the other ones say.
    pub fn update(&mut self, other: &Properties) {
        fn take<T: Clone>(own: &mut Option<T>, other: &Option<T>) {
            if other.is_some() {
                own.clone_from(other);
            }
        }
        take(&mut self.colour, &other.colour);
        take(&mut self.background, &other.background);
        take(&mut self.size, &other.size);
        take(&mut self.overflow, &other.overflow);
        take(&mut self.indent, &other.indent);
        take(&mut self.opacity, &other.opacity);
        take(&mut self.is_override, &other.is_override);
        take(&mut self.leftward, &other.leftward);
        take(&mut self.display, &other.display);
        take(&mut self.visibility, &other.visibility);
        take(&mut self.shut, &other.shut);
        take(&mut self.quoted, &other.quoted);
        for (own, other) in self.sizes.iter_mut().zip(&other.sizes) {
            take(own, other);
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Properties::default()
    }
}

/// A number, within MOST, times what its unit is; None for anything else.
fn parse_number(value: &str, units: Units) -> Option<f64> {
    let digits = value.trim_end_matches(|character: char| character.is_ascii_lowercase() || character == '%');
    let unit = value.get(digits.len()..)?;
    let (_, worth) = units.iter().find(|(name, _)| *name == unit)?;
    let number = if value.is_ascii() { parse_float(digits)? } else { return None };
    Some((number * worth).min(MOST).max(-MOST))
}

/// `float(text)` of ASCII without `inf` and `nan`: blanks around it and `_` between digits are allowed.
fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-' | b'_');
    if !text.bytes().all(is_number) {
        return None;
    }
    if !text.contains('_') {
        return text.parse().ok();
    }
    let bytes = text.as_bytes();
    let is_digit_at =
        |place: Option<usize>| place.and_then(|place| bytes.get(place)).is_some_and(u8::is_ascii_digit);
    let is_sound = (0..bytes.len()).all(|place| {
        bytes.get(place) != Some(&b'_') || (is_digit_at(place.checked_sub(1)) && is_digit_at(Some(place + 1)))
    });
    if is_sound {
        text.replace('_', "").parse().ok()
    } else {
        None
    }
}

/// Pixels, or a number without unit; None for anything else.
fn parse_length(value: &str) -> Option<f64> {
    if matches!(value, "auto" | "none") {
        Some(MOST)
    } else {
        parse_number(value, PIXELS)
    }
}

/// Pixels, as if the size around were NORMAL; None for anything else, and for less than nothing.
fn parse_letter_size(value: &str) -> Option<f64> {
    if ["small", "medium", "large", "initial", ")"].iter().any(|end| value.ends_with(end)) {
        return Some(NORMAL);
    }
    parse_number(value, LETTERS).filter(|pixels| *pixels >= 0.0)
}

/// The size of letters in `bold 12px/1.5 Arial`; a number without a unit is their weight.
fn parse_font(value: &str) -> Read<Option<f64>> {
    for word in split_space(value).take(6) {
        if word.starts_with(|character: char| character.is_ascii_digit() || character == '.') {
            let (size, _, _) = partition(word, "/");
            if size == "0" || !is_digit(size)? {
                return Ok(parse_letter_size(size));
            }
        }
    }
    Ok(None)
}

/// The colour of a value in lower case.
pub fn parse_colour(value: &str) -> i64 {
    let known = COLOURS.iter().find(|(name, _)| *name == value);
    if let Some((_, colour)) = known {
        return *colour;
    }
    match value.strip_prefix('#') {
        Some(digits) => parse_hex_colour(digits),
        None => parse_colour_function(value).unwrap_or(UNKNOWN_COLOUR),
    }
}

fn parse_hex_colour(digits: &str) -> i64 {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let digits: String = if digits.len() > 4 {
        digits.to_string()
    } else {
        digits.chars().flat_map(|digit| [digit, digit]).collect()
    };
    if !is_hex || !matches!(digits.len(), 6 | 8) {
        return UNKNOWN_COLOUR;
    }
    let (colour, rest) = digits.split_at(6);
    let opacity = i64::from_str_radix(rest, 16).unwrap_or(255) as f64;
    if opacity <= 255.0 * FAINT_OPACITY {
        return TRANSPARENT;
    }
    i64::from_str_radix(colour, 16).unwrap_or(UNKNOWN_COLOUR)
}

/// The colour of `rgb(255 0 0 / 50%)` or `hsl(120, 100%, 50%)`.
fn parse_colour_function(value: &str) -> Option<i64> {
    let value = first(value, 80).replace("none", "0");
    let (name, _, inside) = partition(&value, "(");
    let inside = partition(inside, ")").0.replace([',', '/'], " ");
    let words: Vec<&str> = split_space(&inside).collect();
    let bare = name.trim_matches(is_space);
    let units: [Units; 4] = match bare.strip_suffix('a').unwrap_or(bare) {
        "rgb" => [CHANNEL, CHANNEL, CHANNEL, SHARE],
        "hsl" => [DEGREES, PERCENT, PERCENT, SHARE],
        _ => return None,
    };
    if !(3..=4).contains(&words.len()) {
        return None;
    }
    let number = |place: usize| parse_number(words.get(place).unwrap_or(&"1"), units.get(place)?);
    let channels = [number(0)?, number(1)?, number(2)?];
    if number(3).unwrap_or(0.0) <= FAINT_OPACITY {
        return Some(TRANSPARENT);
    }
    let channels = if name.starts_with('h') { make_rgb(channels) } else { channels };
    Some(
        channels
            .iter()
            .fold(0, |colour, channel| (colour << 8) | channel.round_ties_even().clamp(0.0, 255.0) as i64),
    )
}

/// Red, green and blue, up to 255, of hue, saturation and lightness: colorsys.hls_to_rgb.
fn make_rgb([hue, saturation, lightness]: [f64; 3]) -> [f64; 3] {
    const THIRD: f64 = 1.0 / 3.0;
    let (hue, light) = (hue / 360.0, lightness.min(100.0).max(0.0) / 100.0);
    let saturated = saturation.min(100.0).max(0.0) / 100.0;
    if saturated == 0.0 {
        return [255.0 * light; 3];
    }
    let most = if light <= 0.5 { light * (1.0 + saturated) } else { light + saturated - (light * saturated) };
    let least = 2.0 * light - most;
    [hue + THIRD, hue, hue - THIRD].map(|hue| 255.0 * find_channel(least, most, hue))
}

fn find_channel(least: f64, most: f64, hue: f64) -> f64 {
    let hue = hue.rem_euclid(1.0);
    if hue < 1.0 / 6.0 {
        least + (most - least) * hue * 6.0
    } else if hue < 0.5 {
        most
    } else if hue < 2.0 / 3.0 {
        least + (most - least) * (2.0 / 3.0 - hue) * 6.0
    } else {
        least
    }
}

/// The colour of a background; UNKNOWN_COLOUR if it is a picture.
fn parse_background(value: &str) -> i64 {
    if value.contains("gradient(") {
        return UNKNOWN_COLOUR;
    }
    let known = |word: &str| Some(parse_colour(word)).filter(|colour| *colour != UNKNOWN_COLOUR);
    let start = value.find("rgb").max(value.find("hsl")); // None is the least
    let found = match start {
        Some(start) => known(value.get(start..).unwrap_or_default()),
        None => split_space(value).take(20).find_map(known),
    };
    found.unwrap_or(UNKNOWN_COLOUR)
}

/// What declarations say that may hide something; what is `!important` is stronger than all else.
#[derive(Debug, Default)]
pub struct Style {
    pub plain: Properties,
    pub important: Properties,
}

impl Style {
    pub fn new(declarations: &str) -> Read<Style> {
        let mut style = Style::default();
        let text = remove_comments(declarations);
        for declaration in lower(&text)?.split(';') {
            let (name, _, value) = partition(declaration, ":");
            let (value, is_marked, word) = partition(value, "!");
            if is_marked && word.trim_matches(is_space) != "important" {
                continue;
            }
            let kept = if is_marked { &mut style.important } else { &mut style.plain };
            read_value(name.trim_matches(is_space), value.trim_matches(is_space), kept)?;
        }
        Ok(style)
    }

    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.important.is_empty()
    }
}

/// Keep the value of a property, if it says something.
fn read_value(name: &str, value: &str, kept: &mut Properties) -> Read<()> {
    fn keep<T>(own: &mut Option<T>, found: Option<T>) {
        if found.is_some() {
            *own = found;
        }
    }
    match name {
        "color" => kept.colour = Some(parse_colour(value)),
        "background" | "background-color" => kept.background = Some(parse_background(value)),
        "background-image" => keep(&mut kept.background, value.contains('(').then_some(UNKNOWN_COLOUR)),
        "font-size" => keep(&mut kept.size, parse_letter_size(value)),
        "font" => keep(&mut kept.size, parse_font(value)?),
        "overflow" | "overflow-y" => kept.overflow = Some(value.to_string()),
        "text-indent" => keep(&mut kept.indent, parse_length(value)),
        "opacity" => keep(&mut kept.opacity, parse_number(value, SHARE)),
        "unicode-bidi" => kept.is_override = Some(value.ends_with("override")),
        "direction" => kept.leftward = Some(value == "rtl"),
        "display" => kept.display = Some(value.to_string()),
        "visibility" => kept.visibility = Some(value.to_string()),
        _ => {
            let place = ["height", "max-height", "width", "max-width"].iter().position(|size| *size == name);
            if let Some(own) = place.and_then(|place| kept.sizes.get_mut(place)) {
                keep(own, parse_length(value));
            }
        }
    }
    Ok(())
}

fn remove_comments(css: &str) -> String {
    let mut pieces = css.split("/*");
    let mut found = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        found.push_str(partition(piece, "*/").2);
    }
    found
}

/// What a selector does to an element that has these marks.
///
/// around : marks that elements around it must have;  weight : the heaviest rule is the strongest
#[derive(Debug)]
pub struct Rule {
    pub style: Rc<Style>,
    around: Marks,
    marks: Marks,
    weight: (usize, usize, usize, usize),
}

impl Rule {
    fn new(words: &[&str], number: usize, style: Rc<Style>) -> Rule {
        let mut lists: Vec<Vec<String>> = Vec::new();
        for word in words {
            let spaced = word.replace('.', " .").replace('#', " #");
            lists.push(split_space(&spaced).map(str::to_string).collect());
        }
        let count = |kind: char| lists.iter().flatten().filter(|mark| mark.starts_with(kind)).count();
        let weight = (count('#'), count('.'), lists.iter().map(Vec::len).sum(), number);
        let own: Marks = lists.pop().unwrap_or_default().into_iter().collect();
        let around: Marks = lists.into_iter().flatten().filter(|mark| mark != "*").collect();
        Rule { style, around, marks: own, weight }
    }
}

/// The rules of a page's style elements, by one of their marks;  asked : marks that they want around.
pub struct Sheet {
    pub rules: HashMap<String, Vec<Rc<Rule>>>,
    pub asked: Marks,
    size: usize,
    unread: i64,
    looks: i64,
}

/// Marks that are always asked for.
pub fn drawing() -> Marks {
    Marks::from(["svg".to_string()])
}

impl Sheet {
    pub fn new() -> Sheet {
        Sheet { rules: HashMap::new(), asked: drawing(), size: 0, unread: MAX_SELECTORS, looks: MAX_LOOKS }
    }

    /// Add the rules of a style element that hold on a wide screen.
    pub fn read(&mut self, css: &str) -> Read<()> {
        let text = remove_comments(css).replace("<!--", "").replace("-->", "");
        let mut held = vec![true]; // for the sheet, and for each @-block that is open
        for chunk in lower(&text)?.split('}') {
            let mut heads: Vec<&str> = chunk.split('{').collect();
            let body = heads.pop().unwrap_or_default();
            let Some(last) = heads.pop() else {
                if held.len() > 1 {
                    held.pop();
                }
                continue;
            };
            for head in heads {
                let (_, is_block, name) = partition(head, "@");
                held.push(held.last() == Some(&true) && (!is_block || is_screen(name)));
            }
            if held.last() == Some(&true) && body.contains(':') {
                self.add_rules(rpartition(last, ";").2, body)?;
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
        let style = Rc::new(Style::new(body)?);
        if !style.is_empty() {
            for selector in head.replace('>', " ").split(',') {
                self.add(selector, &style);
            }
        }
        Ok(())
    }

    /// Add a rule, unless its selector asks for more than elements and those around them.
    fn add(&mut self, selector: &str, style: &Rc<Style>) {
        let words: Vec<&str> = split_space(selector).collect();
        let is_plain = (1..=MAX_ASKED).contains(&words.len())
            && !selector.contains([':', '[', '+', '~', '\\', '(', '&']);
        if !is_plain || self.size >= MAX_RULES {
            return;
        }
        self.size += 1;
        let rule = Rule::new(&words, self.size, Rc::clone(style));
        if rule.around.len() + self.asked.len() <= MAX_ASKED {
            self.asked.extend(rule.around.iter().cloned());
            let least = rule.marks.first().cloned().unwrap_or_default(); // an id or class, not a name
            self.rules.entry(least).or_default().push(Rc::new(rule));
        }
    }

    /// The rules for an element, weakest first.
    pub fn find_rules(&mut self, marks: &Marks, around: &Marks) -> Vec<Rc<Rule>> {
        if self.looks <= 0 {
            return Vec::new();
        }
        let lists = marks.iter().filter_map(|mark| self.rules.get(mark));
        let mut found = Vec::new();
        for rule in lists.flatten() {
            self.looks -= 1;
            if rule.marks.is_subset(marks) && rule.around.is_subset(around) {
                found.push(Rc::clone(rule));
            }
        }
        found.sort_by_key(|rule| rule.weight);
        found
    }
}

/// True if a list of media, or an @-block without its @, holds on a wide, light screen; in lower case.
pub fn is_screen(media: &str) -> bool {
    const OTHERS: [&str; 8] =
        ["print", "max-width", "max-device-width", "dark", "not ", "supports", "keyframes", "layer"];
    media.split(',').any(|medium| !OTHERS.iter().any(|other| medium.contains(other)))
}
