//! nbspam/model/block.py, BlockBuilder: the tokens of many messages as arrays of integers.

use crate::python::check_interrupt;
use crate::read_tokens;
use crate::tokens::bag::{hash_token, Words};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use std::collections::hash_map::{HashMap, RandomState};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Numbers of the views whose tokens a message has, READ_NUMBERS in Python.
pub const READ_NUMBERS: [u8; 7] = [0, 1, 2, 3, 4, 6, 7];
const WORDS: [u8; 2] = [0, 1]; // header, body

/// What is known of a token: its number, where the block met it first, and its place in the view that is being added.
#[derive(Clone, Copy, Default)]
struct Known {
    number: u32,
    block: u32,
    first: u32,
    view: u32,
    place: u32,
}

/// A hash that is used as it is.
#[derive(Default)]
struct OwnHash(u64);

impl Hasher for OwnHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Collects the tokens of messages into blocks, as BlockBuilder does; each token is numbered once.
///
/// Two texts with one hash are one token, as two with one key are: it has 64 bits and a random key of its own, and
/// to compare the texts costs as much as all else.
#[pyclass]
#[derive(Default)]
pub struct Builder {
    wanted: Vec<String>,
    texts: Words, // distinct ones, numbered in the order in which they came
    known: HashMap<u64, Known, BuildHasherDefault<OwnHash>>, // by the hash of the text
    state: RandomState,
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
        self.texts.len()
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
        let texts = &self.texts;
        let first = std::mem::replace(&mut self.first, texts.len());
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

    fn hash(&self, text: &str) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    fn add_view(&mut self, words: &Words, view: u8) {
        self.view += 1;
        let mut columns: Vec<(u32, u32, i32)> = Vec::new(); // where the block met a token first, number, how often
        let hashes: Vec<u64> = words.iter().map(|text| self.hash(text)).collect();
        // All are looked up at once first: so the processor waits for many places of memory at a time.
        self.known.reserve(hashes.iter().filter(|hash| !self.known.contains_key(hash)).count());
        for (text, hash) in words.iter().zip(hashes) {
            let known = self.known.entry(hash).or_insert_with(|| {
                self.texts.push(text);
                self.views.push(view);
                Known { number: self.texts.len() as u32 - 1, ..Known::default() }
            });
            if known.block != self.block {
                (known.block, known.first) = (self.block, self.n_tokens);
            }
            if known.view != self.view {
                (known.view, known.place) = (self.view, columns.len() as u32);
                columns.push((known.first, known.number, 0));
            }
            if let Some((_, _, times)) = columns.get_mut(known.place as usize) {
                *times += 1;
            }
            self.n_tokens += 1;
        }
        columns.sort_unstable();
        for (_, number, times) in columns {
            self.columns.push(number as i32);
            self.counts.push(times);
        }
    }
}
