//! The compiled reader of nbspam: the same tokens as nbspam/mail and nbspam/tokens, faster.
//!
//! Python is the specification.  Each file begins with the Python file that it equals.  What is rare is asked of
//! Python, or the whole message is left to it; nothing here decides, weighs or stores.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

mod count;
mod for_test;
mod limits;
mod mail;
mod python;
mod text;
mod tokens;

use count::{Arrays, Builder};
use mail::headers::{find_header, Span};
use mail::message::{LeftToPython, Raw, Read};
use python::check_interrupt;
use tokens::bag::{hash_token, Tokens, Words};
use tokens::Wanted;

/// How many messages were left to Python, by reason.
static LEFT: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
    /// Panics of this thread that nobody has asked for yet.
    static FAULTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a message, read without the interpreter's lock; None if it is left to Python.
fn read_unlocked(py: Python<'_>, data: &[u8], wanted: Wanted) -> PyResult<Option<Tokens>> {
    let found = py.allow_threads(|| read_tokens(data, wanted));
    check_interrupt()?;
    Ok(found)
}

fn read_tokens(data: &[u8], wanted: Wanted) -> Option<Tokens> {
    guard(|| tokens::tokenize(&Raw::new(data)?, wanted))
}

/// Call a reader; None, and one more message that is left to Python, if it gives up or panics.
fn guard<T>(read: impl FnOnce() -> Read<T>) -> Option<T> {
    IS_READING.set(true);
    let found = catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(false);
    let reason = match found {
        Ok(Ok(found)) => return Some(found),
        Ok(Err(LeftToPython(reason))) => reason.to_string(),
        Err(_) => FAULTS.with(|faults| faults.borrow().last().cloned()).unwrap_or_default(),
    };
    *LEFT.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    None
}

/// Keep where a reader panics in place of writing it to stderr: that message is read by Python.
fn keep_faults() {
    let others = take_hook();
    set_hook(Box::new(move |fault| {
        if !IS_READING.get() {
            others(fault);
        } else if let Some(place) = fault.location() {
            let text = format!("core: panic at {}:{}", place.file(), place.line());
            FAULTS.with(|faults| faults.borrow_mut().push(text));
        }
    }));
}

fn read_wanted(names: &[String]) -> Wanted {
    let is_wanted = |name: &str| names.iter().any(|wanted| wanted == name);
    Wanted {
        bigrams: is_wanted("bigrams"),
        raw: is_wanted("raw"),
        measures: is_wanted("measures"),
        signature: is_wanted("signature"),
        date: is_wanted("date"),
    }
}

fn list_words<'py>(py: Python<'py>, words: &Words) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, words.iter().collect::<Vec<_>>())
}

/// Tokens by view, those that were sent, and the date.
type ReadTokens<'py> = (Vec<Bound<'py, PyList>>, Bound<'py, PyList>, Option<f64>);

/// The tokens of a message by view, those that were sent, and the date; None if it is left to Python.
///
/// wanted : some of bigrams, raw, measures, signature, date
#[pyfunction]
fn read<'py>(py: Python<'py>, data: &[u8], wanted: Vec<String>) -> PyResult<Option<ReadTokens<'py>>> {
    let Some(tokens) = read_unlocked(py, data, read_wanted(&wanted))? else { return Ok(None) };
    let views = tokens.views().into_iter().map(|words| list_words(py, words)).collect::<PyResult<_>>()?;
    Ok(Some((views, list_words(py, &tokens.sent)?, tokens.date)))
}

/// The distinct tokens of a message, key -> (text, how often) by view, and its identity; None if it is left to
/// Python.
#[pyfunction]
fn count_tokens<'py>(
    py: Python<'py>,
    data: &[u8],
    wanted: Vec<String>,
) -> PyResult<Option<(Vec<Bound<'py, PyDict>>, i64)>> {
    let Some(tokens) = read_unlocked(py, data, read_wanted(&wanted))? else { return Ok(None) };
    let views = tokens.views().into_iter().map(|words| count_words(py, words)).collect::<PyResult<_>>()?;
    Ok(Some((views, tokens.identify())))
}

fn count_words<'py>(py: Python<'py>, words: &Words) -> PyResult<Bound<'py, PyDict>> {
    let mut places = HashMap::with_capacity(words.len());
    let mut counted: Vec<(&str, u32)> = Vec::new();
    for word in words.iter() {
        let place = *places.entry(word).or_insert(counted.len());
        match counted.get_mut(place) {
            Some((_, times)) => *times += 1,
            None => counted.push((word, 1)),
        }
    }
    let found = PyDict::new(py);
    for (word, times) in counted {
        found.set_item(hash_token(word.as_bytes()), (word, times))?;
    }
    Ok(found)
}

/// Collects the tokens of messages into blocks, as BlockBuilder does.
#[pyclass(name = "Builder")]
struct PyBuilder {
    builder: Builder,
    wanted: Wanted,
}

#[pymethods]
impl PyBuilder {
    #[new]
    fn new(wanted: Vec<String>) -> Self {
        PyBuilder { builder: Builder::new(), wanted: read_wanted(&wanted) }
    }

    /// Distinct tokens of all blocks so far.
    fn distinct(&self) -> usize {
        self.builder.distinct()
    }

    /// Tokens of the messages of this block, repeats counted.
    fn occurrences(&self) -> usize {
        self.builder.occurrences()
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
        self.builder.add(views.iter(), identity);
    }

    /// The arrays of the block of the messages added since the last one, by name; `first` is a number.
    fn build<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays: Arrays = py.allow_threads(|| self.builder.build());
        let found = PyDict::new(py);
        found.set_item("first", arrays.first)?;
        found.set_item("texts", PyBytes::new(py, arrays.texts.as_bytes()))?;
        let add = |name: &str, bytes: &[u8]| found.set_item(name, PyByteArray::new(py, bytes));
        add("starts", &flatten(&arrays.starts, |value| value.to_ne_bytes()))?;
        add("columns", &flatten(&arrays.columns, |value| value.to_ne_bytes()))?;
        add("counts", &flatten(&arrays.counts, |value| value.to_ne_bytes()))?;
        add("has_words", &arrays.has_words)?;
        add("identities", &flatten(&arrays.identities, |value| value.to_ne_bytes()))?;
        add("keys", &flatten(&arrays.keys, |value| value.to_ne_bytes()))?;
        add("views", &arrays.views)?;
        Ok(found)
    }
}

impl PyBuilder {
    fn read_some(&mut self, messages: &[PyBackedBytes], most: usize) -> Vec<Option<f64>> {
        let mut dates = Vec::with_capacity(messages.len());
        for data in messages {
            let Some(tokens) = read_tokens(data, self.wanted) else {
                dates.push(None);
                break;
            };
            self.builder.add(tokens.views().into_iter(), tokens.identify());
            dates.push(Some(tokens.date.unwrap_or(f64::NAN)));
            if self.builder.occurrences() > most {
                break;
            }
        }
        dates
    }
}

fn split_lines(texts: &[u8]) -> Words {
    let mut found = Words::default();
    for text in String::from_utf8_lossy(texts).split('\n').filter(|text| !text.is_empty()) {
        found.push(text);
    }
    found
}

fn flatten<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bytes(*value)).collect()
}

/// Where the header begins, and (start, stop, name) of each field; None if it is left to Python.
#[pyfunction]
fn find_fields(data: &[u8]) -> Option<(usize, Vec<Span>)> {
    guard(|| Ok((find_header(data, 0), Raw::new(data)?.find_spans()?.into_owned())))
}

/// How many messages were left to Python in this process, by reason.
#[pyfunction]
fn count_left() -> BTreeMap<String, u64> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The panics of this thread since the last call, one text each.
#[pyfunction]
fn take_faults() -> Vec<String> {
    FAULTS.with(RefCell::take)
}

#[pymodule]
fn nbspam_core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_faults();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyBuilder>()?;
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(find_fields, module)?)?;
    module.add_function(wrap_pyfunction!(for_test::read_html_for_test, module)?)?;
    module.add_function(wrap_pyfunction!(for_test::parse_for_test, module)?)?;
    module.add_function(wrap_pyfunction!(count_left, module)?)?;
    module.add_function(wrap_pyfunction!(python::count_asked, module)?)?;
    module.add_function(wrap_pyfunction!(take_faults, module)?)?;
    Ok(())
}
