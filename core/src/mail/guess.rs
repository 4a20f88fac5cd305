//! nbspam/mail/guess.py: the legacy charset of 8-bit text without a usable declaration.

use super::codecs::{decode_plainly, BROKEN};
use super::headers::between;
use super::message::Read;
use crate::tables::{list_words, LETTERS};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

const SAMPLE_BYTES: usize = 2_048;
const BEFORE: usize = 64; // bytes of the sample before the first 8-bit byte
const FEW: usize = 12;
const MOST_COST: usize = 17;
const MOST_LATIN_COST: usize = 14;
const RARE_SCRIPTS: [&str; 3] = ["cp866", "iso8859_5", "iso8859_6"];
const RARE_COST: usize = 15;
const LEAST_EAST_ASIAN: f64 = 0.3;
const LEAST_GAIN: usize = 15;
const SIGNS: &[u8] = b"\xb1\xb3\xb6\xb9\xbc\xbe\xbf"; // of windows-1252, letters of other charsets
const SIGN_COST: usize = 24;
const UNDEFINED: &[u8] = b"\x81\x8d\x8f\x90\x9d";
/// Codec, part of the table with its frequent characters, their share of ordinary text.
const CANDIDATES: [(&str, &str, f64); 5] = [
    ("big5hkscs", "traditional", 0.3),
    ("cp932", "japanese", 0.5),
    ("gb18030", "simplified", 0.3),
    ("cp949", "korean", 0.4),
    ("euc_jp", "japanese", 0.5),
];

/// Codec and what each byte from 0x80 on costs in one of its languages.
type Row = (&'static str, Vec<usize>);
static SCRIPTS: LazyLock<Vec<Row>> = LazyLock::new(|| read_rows("scripts"));
static LATIN: LazyLock<Vec<Row>> = LazyLock::new(|| read_rows("latin"));

fn read_rows(part: &str) -> Vec<Row> {
    let read = |digits: &str| {
        digits.chars().filter_map(|digit| digit.to_digit(36)).map(|cost| cost as usize).collect()
    };
    let rows = list_words(LETTERS, part);
    rows.chunks(4).filter_map(|row| Some((*row.first()?, read(&row.get(2..)?.concat())))).collect()
}

/// What these 8-bit bytes cost, and the codec, for each row.
fn sum_costs<'r>(rows: &'r [Row], letters: &'r [u8]) -> impl Iterator<Item = (usize, &'static str)> + 'r {
    rows.iter().map(|(codec, costs)| {
        (letters.iter().filter_map(|byte| costs.get(usize::from(byte & 0x7f))).sum(), *codec)
    })
}

/// The codec of legacy text; "cp1252" if nothing else fits.
pub fn guess_codec(payload: &[u8]) -> Read<&'static str> {
    let start = payload.iter().take_while(|byte| byte.is_ascii()).count().saturating_sub(BEFORE);
    let sample = between(payload, start, start + SAMPLE_BYTES);
    let runs: Vec<&[u8]> = sample.split(u8::is_ascii).filter(|run| !run.is_empty()).collect();
    let letters = runs.concat();
    let is_sparse = (letters.len() as f64) < 1.7 * runs.len() as f64;
    if is_sparse || is_western(sample, letters.len(), runs.len()) {
        return Ok(guess_latin(&letters, sample));
    }
    let scripts = sum_costs(&SCRIPTS, &letters);
    let weigh = |(cost, codec)| (cost + RARE_COST * usize::from(RARE_SCRIPTS.contains(&codec)), codec);
    let (cost, script) = scripts.map(weigh).min().unwrap_or_default();
    let one_case = count(&letters, 0xc0..=0xdf).max(count(&letters, 0xdc..=0xff));
    if one_case * 5 >= letters.len() * 4 {
        return Ok(script);
    }
    let even = runs.into_iter().filter(|run| run.len() % 2 == 0).collect::<Vec<_>>().concat();
    let (rows, cells): (Vec<u8>, Vec<u8>) = even.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    let is_euc = even.len() * 5 >= letters.len() * 4 && count(&cells, 0xa1..=0xfe) * 50 >= cells.len() * 49;
    let is_short = is_euc && (letters.len() < 2 * FEW || RARE_SCRIPTS.contains(&script));
    let (by_letters, share) = guess_by_letters(sample)?;
    if cost <= MOST_COST * letters.len() && share < LEAST_EAST_ASIAN && !is_short {
        return Ok(script);
    }
    if is_euc {
        guess_euc(&even, &rows)
    } else {
        Ok(by_letters)
    }
}

/// True if a text with few high bytes has them inside words of ASCII letters.
fn is_western(sample: &[u8], letters: usize, runs: usize) -> bool {
    if letters >= FEW || letters > 2 * runs {
        return letters < 2;
    }
    let is_edge = |one: u8, other: u8| one.is_ascii_alphabetic() && !other.is_ascii();
    let edges = sample.windows(2).filter(|pair| is_edge(pair[0], pair[1]) || is_edge(pair[1], pair[0]));
    edges.count() >= runs
}

fn count(text: &[u8], wanted: RangeInclusive<u8>) -> usize {
    text.iter().filter(|byte| wanted.contains(byte)).count()
}

/// windows-1252, unless letters fit another Latin charset far better.
fn guess_latin(letters: &[u8], sample: &[u8]) -> &'static str {
    let is_inner = |three: &&[u8]| {
        SIGNS.contains(&three[1]) && three[0].is_ascii_alphabetic() && three[2].is_ascii_alphabetic()
    };
    let inner = sample.windows(3).filter(is_inner).count();
    let find_least = |is_western: bool| {
        sum_costs(&LATIN, letters)
            .filter(|(_, codec)| (*codec == "cp1252") == is_western)
            .min()
            .unwrap_or_default()
    };
    let (western, (cost, codec)) = (find_least(true).0 + SIGN_COST * inner, find_least(false));
    let fits = cost + LEAST_GAIN <= western && cost <= MOST_LATIN_COST * letters.len();
    let is_enough = inner >= 1 || (letters.len() >= 4 && letters.iter().any(|letter| *letter != letters[0]));
    if fits && is_enough {
        codec
    } else {
        "cp1252"
    }
}

/// The codec of whole characters in a two-byte EUC, the first bytes of which are `rows`.
fn guess_euc(text: &[u8], rows: &[u8]) -> Read<&'static str> {
    if count(rows, 0xa4..=0xa5) * 5 >= rows.len() {
        return Ok("euc_jp");
    }
    let hangul = count(rows, 0xb0..=0xc8);
    if hangul * 2 < rows.len() || (hangul + count(rows, 0xa1..=0xa3)) * 20 < rows.len() * 19 {
        return Ok("gb18030");
    }
    let is_korean = rows.len() >= FEW
        || measure_share(text, "cp949", "korean")? > measure_share(text, "gb18030", "simplified")?;
    Ok(if is_korean { "cp949" } else { "gb18030" })
}

/// (codec, share of the frequent characters compared with ordinary text) of the best candidate.
fn guess_by_letters(sample: &[u8]) -> Read<(&'static str, f64)> {
    let (mut best, mut best_score) = ("cp1252", 1.0 / 6.0);
    for (codec, frequent, expected) in CANDIDATES {
        let score = measure_share(sample, codec, frequent)? / expected;
        if score > best_score {
            (best, best_score) = (codec, score);
        }
    }
    let has_undefined = sample.iter().any(|byte| UNDEFINED.contains(byte));
    if best == "cp1252" && has_undefined && !decode_plainly("cp932", sample)?.contains(BROKEN) {
        best = "cp932"; // a file name or two words
    }
    Ok((best, best_score))
}

/// Share of the frequent characters among those not ASCII, less three times that of the broken ones.
fn measure_share(sample: &[u8], codec: &'static str, frequent: &str) -> Read<f64> {
    let text = decode_plainly(codec, sample)?;
    let frequent = list_words(LETTERS, frequent).concat();
    let letters = text.chars().filter(|letter| !letter.is_ascii()).count();
    let found = text.chars().filter(|letter| !letter.is_ascii() && frequent.contains(*letter)).count();
    let score = found as f64 - 3.0 * text.matches(BROKEN).count() as f64;
    Ok(if letters == 0 { 0.0 } else { score / letters as f64 })
}
