//! nbspam/limits.py: the bounds of a message, and what it may still use of them.

use super::message::{LeftToPython, Read};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::BoundObject;

/// Constants by the names of nbspam/limits.py, see build.rs.
pub mod bounds {
    include!(concat!(env!("OUT_DIR"), "/bounds.rs"));
}

/// What one message may still cost, and what was found wrong with it; see Allowance in Python.
pub struct Allowance {
    pub header_bytes: i64,
    pub parts: i64,
    pub encoded_words: usize,
    pub boundary_guesses: usize,
    pub delimiter_lines: usize,
    pub defects: Vec<String>,
    guesses: usize,
    document_bytes: i64,
    document_items: i64,
    uu_lines: i64,
}

impl Allowance {
    pub fn new() -> Allowance {
        Allowance {
            header_bytes: bounds::HEADER_BYTES as i64,
            parts: bounds::PARTS as i64,
            encoded_words: bounds::ENCODED_WORDS,
            boundary_guesses: bounds::BOUNDARY_GUESSES,
            delimiter_lines: bounds::DELIMITER_LINES,
            defects: Vec::new(),
            guesses: bounds::GUESSES,
            document_bytes: bounds::DOCUMENT_BYTES as i64,
            document_items: bounds::DOCUMENT_ITEMS as i64,
            uu_lines: bounds::UU_LINES as i64,
        }
    }

    /// Keep a defect; each slug once, in the order found.
    pub fn note(&mut self, slug: &str) {
        if !self.defects.iter().any(|defect| defect == slug) {
            self.defects.push(slug.to_string());
        }
    }

    /// What a function of Python returns whose last argument is an Allowance: one that is where this one is.
    pub fn ask<T, A>(&mut self, module: &str, function: &str, arguments: A) -> Read<T>
    where
        T: for<'py> FromPyObject<'py>,
        A: for<'py> IntoPyObject<'py, Target = PyTuple>,
    {
        Python::with_gil(|py| self.call(py, module, function, arguments))
            .map_err(|_| LeftToPython("error-in-python"))?
            .ok_or(LeftToPython("failure-in-python"))
    }

    fn call<'py, T, A>(&mut self, py: Python<'py>, module: &str, function: &str, arguments: A) -> PyResult<Option<T>>
    where
        T: FromPyObject<'py>,
        A: IntoPyObject<'py, Target = PyTuple>,
    {
        let theirs = py.import("nbspam.limits")?.getattr("Allowance")?.call0()?;
        theirs.setattr("defects", self.defects.as_slice())?;
        theirs.setattr("guesses", self.guesses)?;
        theirs.setattr("document_bytes", self.document_bytes)?;
        theirs.setattr("document_items", self.document_items)?;
        theirs.setattr("uu_lines", self.uu_lines)?;
        let given = arguments.into_pyobject(py).map_err(Into::into)?.into_bound().into_any();
        let mut every: Vec<Bound<'py, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
        every.push(theirs.clone());
        let found = py.import(module)?.getattr(function)?.call1(PyTuple::new(py, every)?)?.extract()?;
        self.defects = theirs.getattr("defects")?.extract()?;
        self.guesses = theirs.getattr("guesses")?.extract()?;
        self.document_bytes = theirs.getattr("document_bytes")?.extract()?;
        self.document_items = theirs.getattr("document_items")?.extract()?;
        self.uu_lines = theirs.getattr("uu_lines")?.extract()?;
        Ok(if theirs.getattr("failures")?.len()? == 0 { Some(found) } else { None })
    }
}
