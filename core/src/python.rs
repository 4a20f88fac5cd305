//! What the core asks of Python: what is rare, and what Python's tables of Unicode decide.

use crate::mail::message::{LeftToPython, Read};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the function of a module of nbspam returns.
pub fn call<T, A>(module: &str, function: &str, arguments: A) -> Read<T>
where
    T: for<'py> FromPyObjectOwned<'py>,
    A: for<'py> PyCallArgs<'py>,
{
    note_asked(module, function);
    run(|py| py.import(module)?.getattr(function)?.call1(arguments)?.extract().map_err(Into::into))
}

/// How often a function of Python was asked, by its name.
static ASKED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// The value that a lock guards, also after a panic.
pub fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn note_asked(module: &str, function: &str) {
    *hold(&ASKED).entry(format!("{module}.{function}")).or_default() += 1;
}

/// How often the core asked each function of Python in this process.
#[pyfunction]
pub fn count_asked() -> BTreeMap<String, u64> {
    hold(&ASKED).clone()
}

/// What some work in Python returns.
pub fn run<T>(work: impl FnOnce(Python) -> PyResult<T>) -> Read<T> {
    Python::attach(|py| work(py).map_err(|error| keep_interrupt(py, error)))
}

thread_local! {
    /// What ended work of this thread in Python and is no fault, as KeyboardInterrupt.
    static INTERRUPT: Cell<Option<PyErr>> = const { Cell::new(None) };
}

fn keep_interrupt(py: Python, error: PyErr) -> LeftToPython {
    if !error.is_instance_of::<PyException>(py) {
        INTERRUPT.set(Some(error));
    }
    LeftToPython("error-in-python")
}

/// Raise what ended work of this thread in Python and is no fault: the caller of the core has to see it.
pub fn check_interrupt() -> PyResult<()> {
    INTERRUPT.take().map_or(Ok(()), Err)
}

/// What a method of `str` without arguments returns.
pub fn ask<T>(text: &str, method: &str) -> Read<T>
where
    T: for<'py> FromPyObjectOwned<'py>,
{
    note_asked("str", method);
    run(|py| PyString::new(py, text).call_method0(method)?.extract().map_err(Into::into))
}
