//! nbspam/mail/dates.py: dates of mail.  The common form is read here, all others by Python.

use super::message::{Message, Read};
use crate::python::call;
use crate::tables::{list_words, Names, FIELDS};
use std::sync::LazyLock;

const FIRST_SECOND: i64 = 31_536_000; // of 1971
const LAST_SECOND: i64 = 4_133_980_799; // of 2100
const MAX_DATE_CHARACTERS: usize = 200;
static MONTHS: Names = LazyLock::new(|| list_words(FIELDS, "months"));
static DAYS: Names = LazyLock::new(|| list_words(FIELDS, "days"));

/// Unix time of the topmost Received field with a date, else of Date; None without a date.
pub fn find_date(message: &Message) -> Read<Option<f64>> {
    let trace = message.headers.iter().filter(|(name, _)| name == "received");
    for (_, time) in trace.filter_map(|(_, value)| value.rsplit_once(';')) {
        if let Some(seconds) = parse_date(time)? {
            return Ok(Some(seconds));
        }
    }
    match message.get("date") {
        Some(date) if !date.is_empty() => parse_date(date),
        _ => Ok(None),
    }
}

fn parse_date(text: &str) -> Read<Option<f64>> {
    match read_common(text) {
        None if is_cut(text) => Ok(None),
        Some(seconds) => Ok((FIRST_SECOND..=LAST_SECOND).contains(&seconds).then_some(seconds as f64)),
        None => call("nbspam.mail.dates", "parse_date", (text,)),
    }
}

/// True of an empty text, and of `Fri, 19 Sep`.
fn is_cut(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let is_named = words.next().is_none_or(|name| is_day_name(&name.to_ascii_lowercase()));
    is_named && words.clone().count() <= 2 && words.all(|word| word.len() <= 3 && word.is_ascii())
}

/// Unix time of `Mon, 3 Jun 2024 10:00:00 +0200`; None for a text of another form.
fn read_common(text: &str) -> Option<i64> {
    if !text.is_ascii() || text.len() > MAX_DATE_CHARACTERS {
        return None;
    }
    let lower = text.split('(').next()?.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().collect();
    let [day, month, year, time, zone] = match words[..] {
        [name, day, month, year, time, zone] if is_day_name(name) => [day, month, year, time, zone],
        [day, month, year, time, zone] => [day, month, year, time, zone],
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = read_number(year, 4, 4)?;
    let days = count_days(year, i64::try_from(month).ok()? + 1) + read_number(day, 1, 2)? - 1;
    let mut times = time.split(':');
    let hour = read_number(times.next()?, 2, 2)?;
    let minute = read_number(times.next()?, 2, 2)?;
    let second = read_number(times.next()?, 2, 2)?;
    if times.next().is_some() || hour > 23 || minute > 59 || second > 59 || !(1000..=9999).contains(&year) {
        return None;
    }
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second - read_zone(zone)?)
}

fn is_day_name(word: &str) -> bool {
    word.strip_suffix(',').is_some_and(|name| DAYS.contains(&name))
}

fn read_number(text: &str, least: usize, most: usize) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && (least..=most).contains(&text.len());
    text.parse().ok().filter(|_| is_number)
}

/// Seconds east of UTC.
fn read_zone(zone: &str) -> Option<i64> {
    if zone == "gmt" || zone == "utc" {
        return Some(0);
    }
    let digits = read_number(zone.get(1..)?, 4, 4)?;
    let seconds = digits / 100 * 3_600 + digits % 100 * 60;
    match zone.get(..1)? {
        "+" => Some(seconds),
        "-" => Some(-seconds),
        _ => None,
    }
}

/// Days from 1970 to the first of a month.  Source: H. Hinnant, chrono-compatible low-level date algorithms.
fn count_days(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
