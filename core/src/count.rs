//! nbspam/model/block.py, BlockBuilder: the tokens of many messages as arrays of integers.

use crate::python::check_interrupt;
use crate::read_tokens;
use crate::tokens::bag::{hash_token, Words};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Numbers of the views whose tokens a message has, READ_NUMBERS in Python.
pub const READ_NUMBERS: [u8; 7] = [0, 1, 2, 3, 4, 6, 7];
const WORDS: [u8; 2] = [0, 1]; // header, body
const FREE: u32 = u32::MAX;

/// A place of a hash table: half of the hash of a text, and the number of the text.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

const EMPTY: Slot = Slot { hash: 0, number: FREE };

/// What is known of a token: the other half of its hash, where the block met it first, and how often the view that
/// is being added has it.
#[derive(Clone, Copy, Default)]
struct Known {
    hash: u32,
    block: u32,
    view: u32,
    first: u32,
    times: i32,
}

/// Distinct texts, numbered in the order in which they came: an open hash table over one string.
///
/// Two texts with one hash are one token, as two with one key are: it has 64 bits and a random key of its own, and
/// to compare the texts costs as much as all else.
struct Numbers {
    texts: Words,
    known: Vec<Known>,
    slots: Vec<Slot>,
    state: RandomState,
}

impl Default for Numbers {
    fn default() -> Self {
        let slots = vec![EMPTY; 1 << 12];
        Numbers { texts: Words::default(), known: Vec::new(), slots, state: RandomState::new() }
    }
}

impl Numbers {
    fn len(&self) -> usize {
        self.known.len()
    }

    /// The number of each text; a new one gets the next.
    ///
    /// Step by step for all of them: so the processor waits for many places of memory at a time.
    fn find_all(&mut self, texts: &Words) -> Vec<u32> {
        let hashes: Vec<u64> = texts.iter().map(|text| self.hash(text)).collect();
        let likely: Vec<Slot> = hashes.iter().map(|hash| self.slot(*hash as usize)).collect();
        let known: Vec<u64> = likely.iter().map(|slot| self.hash_of(*slot)).collect();
        let mut numbers = Vec::with_capacity(hashes.len());
        for (text, ((hash, slot), known)) in texts.iter().zip(hashes.iter().zip(likely).zip(known)) {
            let is_found = slot.number != FREE && *hash == known;
            numbers.push(if is_found { slot.number } else { self.find(text, *hash) });
        }
        numbers
    }

    /// The slot at a place, which is counted round and round.
    fn slot(&self, place: usize) -> Slot {
        self.slots.get(place & (self.slots.len() - 1)).copied().unwrap_or(EMPTY)
    }

    /// The whole hash of the text in a slot.
    fn hash_of(&self, slot: Slot) -> u64 {
        let high = self.known.get(slot.number as usize).map_or(0, |known| known.hash);
        u64::from(high) << 32 | u64::from(slot.hash)
    }

    fn hash(&self, text: &str) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    fn find(&mut self, text: &str, hash: u64) -> u32 {
        let mut place = hash as usize;
        let mut slot = self.slot(place);
        while slot.number != FREE {
            if self.hash_of(slot) == hash {
                return slot.number;
            }
            place += 1;
            slot = self.slot(place);
        }
        let number = self.len() as u32;
        self.texts.push(text);
        self.known.push(Known { hash: (hash >> 32) as u32, ..Known::default() });
        self.take(place, Slot { hash: hash as u32, number });
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn take(&mut self, place: usize, slot: Slot) {
        let mask = self.slots.len() - 1;
        if let Some(free) = self.slots.get_mut(place & mask) {
            *free = slot;
        }
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; 2 * self.slots.len()];
        let before = std::mem::replace(&mut self.slots, larger);
        for slot in before.into_iter().filter(|slot| slot.number != FREE) {
            let mut place = slot.hash as usize;
            while self.slot(place).number != FREE {
                place += 1;
            }
            self.take(place, slot);
        }
    }
}

/// Collects the tokens of messages into blocks, as BlockBuilder does; each token is numbered once.
#[pyclass]
#[derive(Default)]
pub struct Builder {
    wanted: Vec<String>,
    numbers: Numbers,
    block: u32,
    view: u32,
    n_tokens: u32,
    first: usize, // the number of the first token that no block before had
    // The arrays of the block, see Block and Lexicon in Python.
    starts: Vec<i64>,
    columns: Vec<i32>,
    counts: Vec<i32>,
    has_words: Vec<u8>,
    identities: Vec<i64>,
    views: Vec<u8>,
}

#[pymethods]
impl Builder {
    #[new]
    fn new(wanted: Vec<String>) -> Self {
        Builder { wanted, block: 1, starts: vec![0], ..Builder::default() }
    }

    /// Distinct tokens of all blocks so far.
    fn distinct(&self) -> usize {
        self.numbers.len()
    }

    /// Tokens of the messages of this block, repeats counted.
    fn occurrences(&self) -> usize {
        self.n_tokens as usize
    }

    /// Read and add messages without the interpreter's lock: the date of each, NaN if it has none.
    ///
    /// It ends after a message that is left to Python, which has None and is not added, and after the one that
    /// brings the block to more than `most` occurrences.
    fn read(
        &mut self,
        py: Python<'_>,
        messages: Vec<PyBackedBytes>,
        most: usize,
    ) -> PyResult<Vec<Option<f64>>> {
        let dates = py.allow_threads(|| self.read_some(&messages, most));
        check_interrupt()?;
        Ok(dates)
    }

    /// Add a message that Python has read.  views : the tokens of each, joined by line feeds
    fn add(&mut self, views: Vec<Vec<u8>>, identity: i64) {
        let views: Vec<Words> = views.iter().map(|texts| split_lines(texts)).collect();
        self.add_views(views.iter(), identity);
    }

    /// The arrays of the messages added since the last block, by name; the lexicon has only the tokens new in it.
    fn build<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let first = std::mem::replace(&mut self.first, self.numbers.len());
        let texts = &self.numbers.texts;
        let find_keys =
            || (first..texts.len()).map(|number| hash_token(texts.get(number).as_bytes())).collect();
        let mut keys: Vec<i64> = py.allow_threads(find_keys);
        let found = PyDict::new(py);
        found.set_item("first", first)?;
        found.set_item("texts", PyBytes::new(py, texts.join(first).as_bytes()))?;
        let add = |name: &str, bytes: Vec<u8>| found.set_item(name, PyByteArray::new(py, &bytes));
        add("starts", take_bytes(&mut self.starts, i64::to_ne_bytes))?;
        add("columns", take_bytes(&mut self.columns, i32::to_ne_bytes))?;
        add("counts", take_bytes(&mut self.counts, i32::to_ne_bytes))?;
        add("has_words", std::mem::take(&mut self.has_words))?;
        add("identities", take_bytes(&mut self.identities, i64::to_ne_bytes))?;
        add("keys", take_bytes(&mut keys, i64::to_ne_bytes))?;
        add("views", std::mem::take(&mut self.views))?;
        self.starts.push(0);
        self.block += 1;
        self.n_tokens = 0;
        Ok(found)
    }
}

fn take_bytes<T, const N: usize>(values: &mut Vec<T>, to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    std::mem::take(values).into_iter().flat_map(to_bytes).collect()
}

fn split_lines(texts: &[u8]) -> Words {
    let mut found = Words::default();
    let texts = String::from_utf8_lossy(texts);
    texts.split('\n').filter(|text| !text.is_empty()).for_each(|text| found.push(text));
    found
}

impl Builder {
    fn read_some(&mut self, messages: &[PyBackedBytes], most: usize) -> Vec<Option<f64>> {
        let mut dates = Vec::with_capacity(messages.len());
        for data in messages {
            let tokens = read_tokens(data, &self.wanted);
            dates.push(tokens.as_ref().map(|tokens| tokens.date.unwrap_or(f64::NAN)));
            let Some(tokens) = tokens else { break };
            self.add_views(tokens.views().into_iter(), tokens.identify());
            if self.occurrences() > most {
                break;
            }
        }
        dates
    }

    /// One more message.
    fn add_views<'a>(&mut self, views: impl Iterator<Item = &'a Words>, identity: i64) {
        let mut has_words = false;
        for (words, view) in views.zip(READ_NUMBERS) {
            has_words |= WORDS.contains(&view) && !words.is_empty();
            self.add_view(words, view);
        }
        self.starts.push(self.columns.len() as i64);
        self.has_words.push(u8::from(has_words));
        self.identities.push(identity);
    }

    fn add_view(&mut self, words: &Words, view: u8) {
        self.view += 1;
        let mut columns = Vec::new(); // where the block met each distinct token first, and its number
        for number in self.numbers.find_all(words) {
            if self.first + self.views.len() <= number as usize {
                self.views.push(view);
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
            self.columns.push(number as i32);
            self.counts.push(self.numbers.known.get(number as usize).map_or(0, |known| known.times));
        }
    }
}
