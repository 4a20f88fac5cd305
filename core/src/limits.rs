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
const HEADER_BYTES: i64 = 2 << 20;
const PARTS: i64 = 1_000;
const ENCODED_WORDS: usize = 5_000;
const BOUNDARY_GUESSES: usize = 8;
const DELIMITER_LINES: usize = 100_000;

/// What one message may still cost, and what was found wrong with it; see Allowance in Python.
pub struct Allowance {
    pub header_bytes: i64,
    pub parts: i64,
    pub encoded_words: usize,
    pub boundary_guesses: usize,
    pub delimiter_lines: usize,
    pub defects: Vec<String>,
    theirs: Option<Py<PyAny>>, // that of Python, which counts what Python alone looks at
}

impl Allowance {
    pub fn new() -> Allowance {
        Allowance {
            header_bytes: HEADER_BYTES,
            parts: PARTS,
            encoded_words: ENCODED_WORDS,
            boundary_guesses: BOUNDARY_GUESSES,
            delimiter_lines: DELIMITER_LINES,
            defects: Vec::new(),
            theirs: None,
        }
    }

    /// Keep a defect; each slug once, in the order found.
    pub fn note(&mut self, slug: &str) {
        if !self.defects.iter().any(|defect| defect == slug) {
            self.defects.push(slug.to_string());
        }
    }

    /// What a function of Python returns whose last argument is an Allowance.
    pub fn ask<T, A>(&mut self, module: &str, function: &str, arguments: A) -> Read<T>
    where
        T: for<'py> FromPyObject<'py>,
        A: for<'py> IntoPyObject<'py, Target = PyTuple>,
    {
        note_asked(module, function);
        let found = run(|py| {
            let theirs = match self.theirs.take() {
                Some(theirs) => theirs.into_bound(py),
                None => py.import("nbspam.limits")?.getattr("Allowance")?.call0()?,
            };
            theirs.setattr("defects", self.defects.as_slice())?;
            theirs.setattr("header_bytes", self.header_bytes)?;
            theirs.setattr("encoded_words", self.encoded_words)?;
            let given = arguments.into_pyobject(py).map_err(Into::into)?.into_bound().into_any();
            let every = given.try_iter()?.chain([Ok(theirs.clone())]).collect::<PyResult<Vec<_>>>()?;
            let found = py.import(module)?.getattr(function)?.call1(PyTuple::new(py, every)?)?.extract()?;
            let found = theirs.getattr("failures")?.is_empty()?.then_some(found);
            self.defects = theirs.getattr("defects")?.extract()?;
            self.header_bytes = theirs.getattr("header_bytes")?.extract()?;
            self.encoded_words = theirs.getattr("encoded_words")?.extract()?;
            self.theirs = Some(theirs.unbind());
            Ok(found)
        })?;
        found.ok_or(LeftToPython("failure-in-python"))
    }
}
