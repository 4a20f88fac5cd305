//! nbspam/limits.py: the bounds of a message, and what it may still use of them.
//!
//! A test compares the numbers with those of Python.

use crate::mail::message::{LeftToPython, Read};
use crate::python::{note_asked, run};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::BoundObject;

pub const MAX_SCORED_BYTES: usize = 1 << 20; // of the body
pub const MAX_HEADER_BYTES: usize = 256 << 10; // of each header block
pub const MAX_HEADER_LINES: usize = 1_000; // fields of one header block
pub const MAX_NESTING: usize = 64; // multiparts and messages inside each other
pub const MAX_TOKENS: usize = 20_000;
pub const MAX_FIELD_NAME: usize = 998; // characters; RFC 5322 has no longer lines
pub const MAX_FROM_LINES: usize = 10; // mbox "From " lines one after the other
pub const MAX_PARAMETER_BYTES: usize = 8_192; // of one Content-Type or Content-Disposition
pub const MAX_PARAMETERS: usize = 200;

/// What one message may still cost, and what was found wrong with it; functions of Python get it as theirs.
#[pyclass(get_all, set_all)]
pub struct Allowance {
    pub header_bytes: i64,
    pub parts: i64,
    pub encoded_words: i64,
    pub guesses: i64,
    pub boundary_guesses: i64,
    pub delimiter_lines: i64,
    pub document_bytes: i64,
    pub document_items: i64,
    pub uu_lines: i64,
    pub defects: Vec<String>,
    pub failures: Vec<String>,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance {
            header_bytes: 2 << 20,
            parts: 1_000,
            encoded_words: 5_000,
            guesses: 100,
            boundary_guesses: 8,
            delimiter_lines: 100_000,
            document_bytes: 4_000_000,
            document_items: 60_000,
            uu_lines: 50_000,
            defects: Vec::new(),
            failures: Vec::new(),
        }
    }
}

#[pymethods]
impl Allowance {
    /// Keep a defect; each slug once, in the order found.
    pub fn note(&mut self, slug: &str) {
        if !self.defects.iter().any(|defect| defect == slug) {
            self.defects.push(slug.to_string());
        }
    }
}

impl Allowance {
    /// What a function of Python returns whose last argument is an Allowance.
    pub fn ask<T, A>(&mut self, module: &str, function: &str, arguments: A) -> Read<T>
    where
        T: for<'py> FromPyObjectOwned<'py>,
        A: for<'py> IntoPyObject<'py, Target = PyTuple>,
    {
        note_asked(module, function);
        let found = run(|py| {
            let shared = Bound::new(py, std::mem::take(self))?;
            let given = arguments.into_pyobject(py).map_err(Into::into)?.into_bound().into_any();
            let every =
                given.try_iter()?.chain([Ok(shared.clone().into_any())]).collect::<PyResult<Vec<_>>>()?;
            let found = py.import(module)?.getattr(function)?.call1(PyTuple::new(py, every)?);
            *self = std::mem::take(&mut *shared.try_borrow_mut()?);
            found?.extract().map_err(Into::into)
        })?;
        if self.failures.is_empty() {
            Ok(found)
        } else {
            Err(LeftToPython("failure-in-python"))
        }
    }
}
