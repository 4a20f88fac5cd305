//! The compiled reader of nbspam: the same tokens as nbspam/mail and nbspam/tokens, faster.
//!
//! Python is the specification.  Each file begins with the Python file that it equals.  What is rare is asked of
//! Python, or the whole message is left to it; nothing here decides, weighs or stores.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Mutex;

mod count;
#[cfg(feature = "for-test")]
mod for_test;
mod limits;
mod mail;
mod python;
mod table;
mod tables;
mod text;
mod tokens;

use mail::headers::{find_header, find_header_fields, Span};
use mail::message::{LeftToPython, Raw, Read};
use python::{check_interrupt, hold};
use tokens::bag::{hash_token, Tokens, Words};

/// How many messages were left to Python, by reason.
static LEFT: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Panics of this thread that nobody has asked for yet.
    static FAULTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a message, read without the interpreter's lock; None if it is left to Python.
fn read_unlocked(py: Python<'_>, data: &[u8], wanted: &[String]) -> PyResult<Option<Tokens>> {
    let found = py.detach(|| read_tokens(data, wanted));
    check_interrupt()?;
    Ok(found)
}

fn read_tokens(data: &[u8], wanted: &[String]) -> Option<Tokens> {
    guard(|| tokens::tokenize(&Raw::new(data), wanted))
}

/// Call a reader; None, and one more message that is left to Python, if it gives up or panics.
fn guard<T>(read: impl FnOnce() -> Read<T>) -> Option<T> {
    let reason = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(found)) => return Some(found),
        Ok(Err(LeftToPython(reason))) => reason.to_string(),
        Err(_) => FAULTS.with(|faults| faults.borrow().last().cloned()).unwrap_or_default(),
    };
    *hold(&LEFT).entry(reason).or_default() += 1;
    None
}

/// Keep where the core panics in place of writing it to stderr: that message is read by Python.
fn keep_faults() {
    set_hook(Box::new(|fault| {
        let place = fault.location().map(ToString::to_string).unwrap_or_default();
        FAULTS.with(|faults| faults.borrow_mut().push(format!("core: panic at {place}")));
    }));
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
    let Some(tokens) = read_unlocked(py, data, &wanted)? else { return Ok(None) };
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
    let Some(tokens) = read_unlocked(py, data, &wanted)? else { return Ok(None) };
    let views = tokens.views().into_iter().map(|words| count_words(py, words)).collect::<PyResult<_>>()?;
    Ok(Some((views, tokens.identify())))
}

fn count_words<'py>(py: Python<'py>, words: &Words) -> PyResult<Bound<'py, PyDict>> {
    let mut counted: HashMap<&str, u32> = HashMap::with_capacity(words.len());
    words.iter().for_each(|word| *counted.entry(word).or_default() += 1);
    let found = PyDict::new(py);
    for word in words.iter() {
        if let Some(times) = counted.remove(word) {
            found.set_item(hash_token(word.as_bytes()), (word, times))?;
        }
    }
    Ok(found)
}

/// Where the header begins, and (start, stop, name) of each field; None if it is left to Python.
#[pyfunction]
fn find_fields(data: &[u8]) -> Option<(usize, Vec<Span>)> {
    guard(|| Ok((find_header(data), find_header_fields(data))))
}

/// How many messages were left to Python in this process, by reason.
#[pyfunction]
fn count_left() -> BTreeMap<String, u64> {
    hold(&LEFT).clone()
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
    module.add_class::<count::Builder>()?;
    module.add_function(wrap_pyfunction!(count::add_up_builders, module)?)?;
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(find_fields, module)?)?;
    #[cfg(feature = "for-test")]
    for_test::add_functions(module)?;
    module.add_function(wrap_pyfunction!(count_left, module)?)?;
    module.add_function(wrap_pyfunction!(python::count_asked, module)?)?;
    module.add_function(wrap_pyfunction!(take_faults, module)?)?;
    Ok(())
}
