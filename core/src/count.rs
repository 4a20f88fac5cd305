//! nbspam/model/block.py, BlockBuilder: the tokens of many messages as arrays of integers.

use crate::tokens::bag::{hash_token, Words};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Numbers of the views whose tokens a message has, READ_NUMBERS in Python.
pub const READ_NUMBERS: [u8; 7] = [0, 1, 2, 3, 4, 6, 7];
const WORDS: [u8; 2] = [0, 1]; // header, body
const FREE: u32 = u32::MAX;

/// A place of a hash table: a part of the hash of a text, and the number of the text.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

const EMPTY: Slot = Slot { hash: 0, number: FREE };

/// What is known of a token: where its text ends, where the block met it first, and how often the view that is
/// being added has it.
#[derive(Clone, Copy, Default)]
struct Known {
    end: usize,
    block: u32,
    view: u32,
    first: u32,
    times: i32,
}

/// Distinct texts, numbered in the order in which they came: an open hash table over one string.
struct Numbers {
    texts: Vec<u8>, // each with a line feed
    known: Vec<Known>,
    slots: Vec<Slot>,
    state: RandomState,
}

impl Default for Numbers {
    fn default() -> Self {
        let slots = vec![EMPTY; 1 << 12];
        Numbers { texts: Vec::new(), known: Vec::new(), slots, state: RandomState::new() }
    }
}

impl Numbers {
    fn len(&self) -> usize {
        self.known.len()
    }

    /// The number of each text; a new one gets the next.
    fn find_all(&mut self, texts: &Words) -> Vec<u32> {
        // All hashes first: then the processor waits for many places of the table at a time.
        let hashes: Vec<u32> = texts.iter().map(|text| self.hash(text)).collect();
        texts.iter().zip(hashes).map(|(text, hash)| self.find(text.as_bytes(), hash)).collect()
    }

    fn hash(&self, text: &str) -> u32 {
        let mut hasher = self.state.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish() as u32
    }

    /// Where the text of a number begins.
    fn start(&self, number: usize) -> usize {
        number.checked_sub(1).and_then(|before| self.known.get(before)).map_or(0, |known| known.end)
    }

    fn get(&self, number: usize) -> &[u8] {
        let end = self.known.get(number).map_or(0, |known| known.end - 1);
        self.texts.get(self.start(number)..end).unwrap_or_default()
    }

    fn find(&mut self, text: &[u8], hash: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while let Some(slot) = self.slots.get(place).filter(|slot| slot.number != FREE) {
            if slot.hash == hash && self.get(slot.number as usize) == text {
                return slot.number;
            }
            place = (place + 1) & mask;
        }
        let number = self.len() as u32;
        self.texts.extend_from_slice(text);
        self.texts.push(b'\n');
        self.known.push(Known { end: self.texts.len(), ..Known::default() });
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Slot { hash, number };
        }
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        let before = std::mem::replace(&mut self.slots, vec![EMPTY; mask + 1]);
        for taken in before.into_iter().filter(|slot| slot.number != FREE) {
            let mut place = taken.hash as usize & mask;
            while self.slots.get(place).is_some_and(|slot| slot.number != FREE) {
                place = (place + 1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = taken;
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

/// Collects the tokens of messages into blocks, one after the other; each token is numbered once.
#[derive(Default)]
pub struct Builder {
    numbers: Numbers,
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
        let mut columns = Vec::new(); // where the block met each distinct token first, and its number
        for number in self.numbers.find_all(words) {
            if self.first + self.own_views.len() <= number as usize {
                self.own_views.push(view);
            }
            let Some(known) = self.numbers.known.get_mut(number as usize) else { continue };
            if known.block != self.block {
                (known.block, known.first) = (self.block, self.n_tokens);
            }
            if known.view != self.view {
                (known.view, known.times) = (self.view, 0);
                columns.push(u64::from(known.first) << 32 | u64::from(number));
            }
            known.times += 1;
            self.n_tokens += 1;
        }
        columns.sort_unstable();
        for column in columns {
            let number = column as u32;
            self.arrays.columns.push(number as i32);
            self.arrays.counts.push(self.numbers.known.get(number as usize).map_or(0, |known| known.times));
        }
    }

    /// The arrays of the messages added since the last block; the lexicon has only the tokens new in it.
    pub fn build(&mut self) -> Arrays {
        let mut arrays = std::mem::take(&mut self.arrays);
        for number in self.first..self.numbers.len() {
            arrays.keys.push(hash_token(self.numbers.get(number)));
        }
        arrays
            .texts
            .extend_from_slice(self.numbers.texts.get(self.numbers.start(self.first)..).unwrap_or_default());
        arrays.texts.pop(); // the last line feed
        arrays.first = self.first;
        arrays.views = std::mem::take(&mut self.own_views);
        self.first = self.numbers.len();
        self.arrays.starts.push(0);
        self.block += 1;
        self.n_tokens = 0;
        arrays
    }
}
