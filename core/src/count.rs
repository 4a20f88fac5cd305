//! nbspam/model/block.py, BlockBuilder: the tokens of many messages as arrays of integers.

use crate::tokens::bag::{hash_token, Words};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Numbers of the views whose tokens a message has, READ_NUMBERS in Python.
pub const READ_NUMBERS: [u8; 7] = [0, 1, 2, 3, 4, 6, 7];
const WORDS: [u8; 2] = [0, 1]; // header, body
const FREE: u32 = u32::MAX;

/// Distinct texts, numbered in the order in which they came: an open hash table over one string.
pub struct Numbers {
    texts: Words,
    hashes: Vec<u32>,
    slots: Vec<u32>,
    state: RandomState,
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers {
            texts: Words::default(),
            hashes: Vec::new(),
            slots: vec![FREE; 1 << 12],
            state: RandomState::new(),
        }
    }
}

impl Numbers {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// The number of a text; a new one gets the next.
    pub fn find(&mut self, text: &str) -> u32 {
        let hash = self.state.hash_one(text) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(number) = self.slots.get(slot).copied().filter(|number| *number != FREE) {
            let is_same = self.hashes.get(number as usize) == Some(&hash);
            if is_same && self.texts.get(number as usize) == text {
                return number;
            }
            slot = (slot + 1) & mask;
        }
        let number = self.len() as u32;
        self.texts.push(text);
        self.hashes.push(hash);
        if let Some(free) = self.slots.get_mut(slot) {
            *free = number;
        }
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![FREE; mask + 1];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & mask;
            while self.slots.get(slot).is_some_and(|taken| *taken != FREE) {
                slot = (slot + 1) & mask;
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = number as u32;
            }
        }
    }
}

/// The arrays of a Block, see Block and Lexicon in Python.
#[derive(Default)]
pub struct Arrays {
    pub starts: Vec<i64>,
    pub columns: Vec<i32>,
    pub counts: Vec<i32>,
    pub has_words: Vec<u8>,
    pub identities: Vec<i64>,
    /// The number of the first token that no block before had.
    pub first: usize,
    pub keys: Vec<i64>,
    pub views: Vec<u8>,
    pub texts: Vec<u8>,
}

/// What is known of a token: where the block met it first, and where the view that is being added has it.
#[derive(Clone, Copy, Default)]
struct Met {
    block: u32,
    view: u32,
    first: u32,
    times: i32,
}

/// Collects the tokens of messages into blocks, one after the other; each token is numbered once.
#[derive(Default)]
pub struct Builder {
    numbers: Numbers,
    met: Vec<Met>,
    block: u32,
    view: u32,
    n_tokens: u32,
    first: usize,
    own_views: Vec<u8>,
    arrays: Arrays,
}

impl Builder {
    pub fn new() -> Self {
        let mut builder = Builder { block: 1, ..Builder::default() };
        builder.arrays.starts.push(0);
        builder
    }

    /// Distinct tokens of all blocks so far.
    pub fn distinct(&self) -> usize {
        self.numbers.len()
    }

    /// Tokens of the messages of this block, repeats counted.
    pub fn occurrences(&self) -> usize {
        self.n_tokens as usize
    }

    /// One more message.
    pub fn add<'a>(&mut self, views: impl Iterator<Item = &'a Words>, identity: i64) {
        let mut has_words = false;
        for (words, view) in views.zip(READ_NUMBERS) {
            has_words |= WORDS.contains(&view) && !words.is_empty();
            self.add_view(words, view);
        }
        self.arrays.starts.push(self.arrays.columns.len() as i64);
        self.arrays.has_words.push(u8::from(has_words));
        self.arrays.identities.push(identity);
    }

    fn add_view(&mut self, words: &Words, view: u8) {
        self.view += 1;
        let begin = self.arrays.columns.len();
        for word in words.iter() {
            let number = self.numbers.find(word);
            if self.met.len() <= number as usize {
                self.met.push(Met::default());
                self.own_views.push(view);
            }
            let Some(met) = self.met.get_mut(number as usize) else { continue };
            if met.block != self.block {
                (met.block, met.first) = (self.block, self.n_tokens);
            }
            if met.view != self.view {
                (met.view, met.times) = (self.view, 0);
                self.arrays.columns.push(number as i32);
            }
            met.times += 1;
            self.n_tokens += 1;
        }
        let met = &self.met;
        let find = |column: &i32| met.get(*column as usize).copied().unwrap_or_default();
        let columns = self.arrays.columns.get_mut(begin..).unwrap_or(&mut []);
        columns.sort_unstable_by_key(|column| find(column).first);
        self.arrays.counts.extend(columns.iter().map(|column| find(column).times));
    }

    /// The arrays of the messages added since the last block; the lexicon has only the tokens new in it.
    pub fn build(&mut self) -> Arrays {
        let mut arrays = std::mem::take(&mut self.arrays);
        for number in self.first..self.numbers.len() {
            let text = self.numbers.texts.get(number);
            arrays.keys.push(hash_token(text));
            if number > self.first {
                arrays.texts.push(b'\n');
            }
            arrays.texts.extend_from_slice(text.as_bytes());
        }
        arrays.first = self.first;
        arrays.views = std::mem::take(&mut self.own_views);
        self.first = self.numbers.len();
        self.arrays.starts.push(0);
        self.block += 1;
        self.n_tokens = 0;
        arrays
    }
}
