//! nbspam/tokens/bag.py: the tokens of one message, by view.

use md5::{Digest, Md5};
use std::collections::BTreeSet;

/// On both sides of each character of a script without spaces.
pub const EDGE: &str = "\u{e000}";
/// Between two of them.
pub const INNER: &str = "\u{e001}";
const FIRST_PAIRED: usize = 50;
const LAST_PAIRED: usize = 50;
const FORM_BITS: u32 = 20;
const RUN_WORDS: usize = 5;
const SIGNATURE_HASHES: usize = 4;
const CONTENT: [&str; 4] = ["file=", "url=", "attached=", "magic="];

/// A list of texts, in one string.
#[derive(Clone, Debug, Default)]
pub struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Words {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends.get(number - 1).copied().unwrap_or(0) };
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or("")
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number))
    }

    pub fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    /// Add one text, which is given in pieces.
    pub fn push_pieces(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.text.push_str(piece);
        }
        self.ends.push(self.text.len());
    }

    /// Add the first `most` texts of another list, each after a prefix.
    pub fn extend(&mut self, other: &Words, prefix: &str, most: usize) {
        for word in other.iter().take(most) {
            self.push_pieces(&[prefix, word]);
        }
    }

    /// Add the pairs of neighbours in a part of a list, each after a prefix.
    pub fn extend_pairs(&mut self, words: &Words, range: std::ops::Range<usize>, prefix: &str) {
        for second in range.start + 1..range.end {
            self.push_pieces(&[prefix, words.get(second - 1), "+", words.get(second)]);
        }
    }

    pub fn truncate(&mut self, most: usize) {
        if most < self.len() {
            self.ends.truncate(most);
            self.text.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }
}

/// Pairs of neighbours among the first and among the last words of a text; of a short one, all.
pub fn make_bigrams(body: &Words) -> Words {
    let mut found = Words::default();
    let n = body.len();
    if n <= FIRST_PAIRED + LAST_PAIRED {
        found.extend_pairs(body, 0..n, "");
    } else {
        found.extend_pairs(body, 0..FIRST_PAIRED, "");
        found.extend_pairs(body, n - LAST_PAIRED..n, "");
    }
    found
}

/// The smallest CRC-32 of all runs of words, ascending; see sign_text in Python.
pub fn sign_text(body: &Words, structure: &Words) -> Words {
    let is_content = |token: &&str| CONTENT.iter().any(|start| token.starts_with(start));
    let is_short = body.len() < RUN_WORDS;
    let rest = structure.iter().filter(|token| is_short && is_content(token));
    let mut text = String::new();
    let mut starts = Vec::new();
    for word in body.iter().chain(rest) {
        starts.push(text.len());
        text.push_str(word);
        text.push(' ');
    }
    starts.push(text.len());
    let run = |run: &[usize]| {
        let (start, end) = (run.first().copied()?, run.last().copied()?);
        text.get(start..end.saturating_sub(1)).map(|words| crc32fast::hash(words.as_bytes()))
    };
    let numbers: BTreeSet<u32> = starts.windows(RUN_WORDS + 1).filter_map(run).collect();
    let mut found = Words::default();
    for number in numbers.iter().take(SIGNATURE_HASHES) {
        found.push(&format!("signature={number:08x}"));
    }
    found
}

/// What is read of one message, see Tokens in Python.
#[derive(Debug, Default)]
pub struct Tokens {
    pub header: Words,
    pub body: Words,
    pub structure: Words,
    pub bigrams: Words,
    pub raw: Words,
    pub measures: Words,
    pub signature: Words,
    pub sent: Words,
    pub date: Option<f64>,
}

impl Tokens {
    /// The views in the order of READ_NUMBERS in Python.
    pub fn views(&self) -> [&Words; 7] {
        let Tokens { header, body, structure, bigrams, raw, measures, signature, .. } = self;
        [header, body, structure, bigrams, raw, measures, signature]
    }

    /// The bits of a digest that all forms of a message share.
    pub fn identify(&self) -> i64 {
        let mut digest = Md5::new();
        for (number, word) in self.sent.iter().chain(self.body.iter()).enumerate() {
            if number > 0 {
                digest.update(b"\n");
            }
            digest.update(word);
        }
        find_key(digest) & !((1 << FORM_BITS) - 1)
    }
}

/// A token's key: the first eight bytes of its MD5; never 0.
pub fn hash_token(text: &str) -> i64 {
    find_key(Md5::new_with_prefix(text))
}

fn find_key(digest: Md5) -> i64 {
    let mut first = [0; 8];
    first.iter_mut().zip(digest.finalize()).for_each(|(to, from)| *to = from);
    match i64::from_le_bytes(first) {
        0 => 1,
        key => key,
    }
}
