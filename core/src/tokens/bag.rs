//! nbspam/tokens/bag.py: the tokens of one message, by view.

use md5::{Digest, Md5};
use std::borrow::Cow;

/// On both sides of each character of a script without spaces.
pub const EDGE: char = '\u{e000}';
/// Between two of them.
pub const INNER: &str = "\u{e001}";
const FIRST_PAIRED: usize = 50;
const LAST_PAIRED: usize = 50;
const FORM_BITS: u32 = 20;
const RUN_WORDS: usize = 5;
const SIGNATURE_HASHES: usize = 4;
const MEAN_WORD: usize = 6; // bytes
const CONTENT: [&str; 4] = ["file=", "url=", "attached=", "magic="];

/// A list of texts, in one string: a line feed ends each.
#[derive(Clone, Debug, Default)]
pub struct Words {
    text: String,
    ends: Vec<usize>, // after each line feed
}

impl Words {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where a text begins in the string.
    fn start(&self, number: usize) -> usize {
        number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }

    pub fn get(&self, number: usize) -> &str {
        let end = self.ends.get(number).map_or(0, |end| end - 1);
        self.text.get(self.start(number)..end).unwrap_or("")
    }

    /// The texts from a number on, joined by line feeds.
    pub fn join(&self, first: usize) -> String {
        self.text.get(self.start(first)..).map_or(String::new(), |text| without_end(text).to_string())
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let word = self.text.get(start..end - 1).unwrap_or("");
            start = *end;
            word
        })
    }

    /// What the texts take in memory.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>()
    }

    /// Make room for the texts of so many bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
        self.ends.reserve(bytes / MEAN_WORD);
    }

    pub fn push(&mut self, word: &str) {
        self.push_pieces(&[word]);
    }

    /// Add one text, which is given in pieces.
    pub fn push_pieces(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.text.push_str(piece);
        }
        self.text.push('\n');
        self.ends.push(self.text.len());
    }

    /// Add the first `most` texts of another list.
    pub fn extend(&mut self, other: &Words, most: usize) {
        let offset = self.text.len();
        self.text.push_str(other.text.get(..other.start(most.min(other.len()))).unwrap_or(""));
        self.ends.extend(other.ends.iter().take(most).map(|end| offset + end));
    }

    /// Add the pairs of neighbours in a part of a list, each after a prefix.
    pub fn extend_pairs(&mut self, words: &Words, range: std::ops::Range<usize>, prefix: &str) {
        for second in range.start + 1..range.end {
            self.push_pieces(&[prefix, words.get(second - 1), "+", words.get(second)]);
        }
    }

    pub fn truncate(&mut self, most: usize) {
        if most < self.len() {
            self.text.truncate(self.start(most));
            self.ends.truncate(most);
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
    let mut words = Cow::Borrowed(body);
    if body.len() < RUN_WORDS {
        let is_content = |token: &&str| CONTENT.iter().any(|start| token.starts_with(start));
        structure.iter().filter(is_content).for_each(|token| words.to_mut().push(token));
    }
    let text: Vec<u8> = words.text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }).collect();
    let mut smallest: Vec<u32> = Vec::with_capacity(SIGNATURE_HASHES + 1);
    for (first, last) in words.ends.iter().skip(RUN_WORDS - 1).enumerate() {
        let run = text.get(words.start(first)..last - 1).unwrap_or(&[]);
        let number = crc32fast::hash(run);
        if smallest.len() == SIGNATURE_HASHES && smallest.last() < Some(&number) {
            continue;
        }
        let place = smallest.partition_point(|other| *other < number);
        if smallest.get(place) != Some(&number) {
            smallest.insert(place, number);
            smallest.truncate(SIGNATURE_HASHES);
        }
    }
    let mut found = Words::default();
    for number in smallest {
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
        let (sent, body) = (&self.sent.text, &self.body.text);
        let (sent, body) =
            if body.is_empty() { (without_end(sent), "") } else { (sent.as_str(), without_end(body)) };
        find_key(Md5::new_with_prefix(sent).chain_update(body)) & !((1 << FORM_BITS) - 1)
    }
}

/// The bits of a digest that tell the forms of a message apart.  total : over its distinct tokens
pub fn find_form(total: i64) -> i64 {
    (total >> (i64::BITS - FORM_BITS)) & ((1 << FORM_BITS) - 1)
}

fn without_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// A token's key: the first eight bytes of its MD5; never 0.
pub fn hash_token(text: &[u8]) -> i64 {
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
