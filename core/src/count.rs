//! nbspam/model/block.py, BlockBuilder: the tokens of many messages as arrays of integers.

use crate::python::check_interrupt;
use crate::read_tokens;
use crate::table::{add_up, Table};
use crate::tokens::bag::{find_form, Words};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use std::collections::hash_map::{HashMap, RandomState};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::mem::{replace, take};

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
    n_classes: usize,
    most_bytes: usize,
    table: Table,
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
    forms: Vec<i64>,
}

#[pymethods]
impl Builder {
    /// n_classes : of messages that are counted by class; 0: none is
    /// most_bytes : of the tokens when the builder is full
    #[new]
    fn new(wanted: Vec<String>, n_classes: usize, most_bytes: usize) -> Self {
        let table = Table::new(n_classes);
        Builder { wanted, n_classes, most_bytes, table, block: 1, starts: vec![0], ..Builder::default() }
    }

    /// Tokens of the messages of this block, repeats counted.
    fn occurrences(&self) -> usize {
        self.n_tokens as usize
    }

    /// True if the tokens have too many bytes, or the counts could become too large.
    fn is_full(&self) -> bool {
        let bytes = self.table.bytes() + self.known.capacity() * size_of::<(u64, Known)>();
        bytes > self.most_bytes || self.table.total > u32::MAX / 2
    }

    /// Read and add messages without the interpreter's lock: the date of each, NaN if it has none.
    ///
    /// It ends after a message that is left to Python, which has None and is not added, and after the one that
    /// brings the block to more than `most` occurrences.
    fn read(
        &mut self,
        py: Python<'_>,
        messages: Vec<PyBackedBytes>,
        labels: Vec<i64>,
        most: usize,
    ) -> PyResult<Vec<Option<f64>>> {
        let dates = py.detach(|| self.read_some(&messages, &labels, most));
        check_interrupt()?;
        Ok(dates)
    }

    /// Add a message that Python has read.  views : the tokens of each, joined by line feeds
    fn add(&mut self, views: Vec<Vec<u8>>, identity: i64, label: i64) {
        let views: Vec<Words> = views.iter().map(|texts| split_lines(texts)).collect();
        self.add_views(views.iter(), identity, label);
    }

    /// The arrays of the messages added since the last block, by name; of messages that are not counted also the
    /// tokens that are new in it.
    fn build<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        let long = |values: &[i64]| make_array(py, &[values], i64::to_ne_bytes);
        let short = |values: &[i32]| make_array(py, &[values], i32::to_ne_bytes);
        if self.n_classes == 0 {
            let first = replace(&mut self.first, self.table.len());
            arrays.set_item("first", first)?;
            arrays.set_item("texts", PyBytes::new(py, self.table.texts.join(first).as_bytes()))?;
            arrays.set_item("keys", long(self.table.keys.get(first..).unwrap_or(&[]))?)?;
            arrays.set_item("views", PyByteArray::new(py, self.table.views.get(first..).unwrap_or(&[])))?;
        }
        arrays.set_item("starts", long(&replace(&mut self.starts, vec![0]))?)?;
        arrays.set_item("columns", short(&take(&mut self.columns))?)?;
        arrays.set_item("counts", short(&take(&mut self.counts))?)?;
        arrays.set_item("has_words", PyByteArray::new(py, &take(&mut self.has_words)))?;
        arrays.set_item("identities", long(&take(&mut self.identities))?)?;
        arrays.set_item("forms", long(&take(&mut self.forms))?)?;
        self.block += 1;
        self.n_tokens = 0;
        Ok(arrays)
    }
}

/// What builders have counted, added up: arrays by name, ascending by key; `places` has by builder the place of
/// each token there.  The builders are empty then.
#[pyfunction]
pub fn add_up_builders<'py>(
    py: Python<'py>,
    builders: Vec<Bound<'py, Builder>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut tables = Vec::new();
    for builder in builders {
        let mut builder = builder.try_borrow_mut()?;
        builder.known = HashMap::default();
        tables.push(take(&mut builder.table));
    }
    let (mut sums, places) = py.detach(|| add_up(tables));
    let arrays = PyDict::new(py);
    let texts: String = sums.iter_mut().map(|sum| take(&mut sum.texts)).collect();
    arrays.set_item("texts", PyBytes::new(py, texts.strip_suffix('\n').unwrap_or("").as_bytes()))?;
    drop(texts);
    let long = |parts: Vec<&[i64]>| make_array(py, &parts, i64::to_ne_bytes);
    arrays.set_item("keys", long(sums.iter().map(|sum| &sum.keys[..]).collect())?)?;
    let views: Vec<u8> = sums.iter().flat_map(|sum| &sum.views).copied().collect();
    arrays.set_item("views", PyByteArray::new(py, &views))?;
    arrays.set_item("counts", long(sums.iter().map(|sum| &sum.counts[..]).collect())?)?;
    let places = places.iter().map(|places| make_array(py, &[places], i32::to_ne_bytes));
    arrays.set_item("places", places.collect::<PyResult<Vec<_>>>()?)?;
    Ok(arrays)
}

/// The numbers of some arrays, one after the other.  show : the bytes of a number
fn make_array<'py, T: Copy, const SIZE: usize>(
    py: Python<'py>,
    parts: &[&[T]],
    show: fn(T) -> [u8; SIZE],
) -> PyResult<Bound<'py, PyByteArray>> {
    let numbers = parts.iter().copied().flatten();
    PyByteArray::new_with(py, SIZE * parts.iter().map(|part| part.len()).sum::<usize>(), |bytes| {
        bytes.chunks_exact_mut(SIZE).zip(numbers).for_each(|(to, number)| to.copy_from_slice(&show(*number)));
        Ok(())
    })
}

fn split_lines(texts: &[u8]) -> Words {
    let mut found = Words::default();
    let texts = String::from_utf8_lossy(texts);
    texts.split('\n').filter(|text| !text.is_empty()).for_each(|text| found.push(text));
    found
}

impl Builder {
    fn read_some(&mut self, messages: &[PyBackedBytes], labels: &[i64], most: usize) -> Vec<Option<f64>> {
        let mut dates = Vec::with_capacity(messages.len());
        for (data, label) in messages.iter().zip(labels) {
            let tokens = read_tokens(data, &self.wanted);
            dates.push(tokens.as_ref().map(|tokens| tokens.date.unwrap_or(f64::NAN)));
            let Some(tokens) = tokens else { break };
            self.add_views(tokens.views().into_iter(), tokens.identify(), *label);
            if self.occurrences() > most {
                break;
            }
        }
        dates
    }

    /// One more message.
    fn add_views<'a>(&mut self, views: impl Iterator<Item = &'a Words>, identity: i64, label: i64) {
        let (mut has_words, mut total) = (false, 0i64);
        let class = usize::try_from(label).ok().filter(|class| *class < self.n_classes);
        for (words, view) in views.zip(READ_NUMBERS) {
            has_words |= WORDS.contains(&view) && !words.is_empty();
            total = total.wrapping_add(self.add_view(words, view, class));
        }
        self.starts.push(self.columns.len() as i64);
        self.has_words.push(u8::from(has_words));
        self.identities.push(identity);
        self.forms.push(if class.is_some() { find_form(total) } else { -1 });
    }

    fn hash(&self, text: &str) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    /// What the view adds to the form of a message that is counted.
    fn add_view(&mut self, words: &Words, view: u8, class: Option<usize>) -> i64 {
        self.view += 1;
        let mut columns: Vec<(u32, u32, i32)> = Vec::new(); // where the block met a token first, number, how often
        let hashes: Vec<u64> = words.iter().map(|text| self.hash(text)).collect();
        // All are looked up at once first: so the processor waits for many places of memory at a time.
        self.known.reserve(hashes.iter().filter(|hash| !self.known.contains_key(hash)).count());
        for (text, hash) in words.iter().zip(hashes) {
            let known = self.known.entry(hash).or_insert_with(|| {
                self.table.push(text, view);
                Known { number: self.table.len() as u32 - 1, ..Known::default() }
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
        let mut total = 0i64;
        for (_, number, times) in columns {
            self.columns.push(number as i32);
            self.counts.push(times);
            if let Some(class) = class {
                total = total.wrapping_add(self.table.count(number, class, times));
            }
        }
        total
    }
}
