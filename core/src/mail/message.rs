//! nbspam/mail/message.py: a mail that was taken apart.

use super::headers::{find_header_fields, Span};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Why a message is left to Python: counted by reason, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftToPython(pub &'static str);

pub type Read<T> = Result<T, LeftToPython>;

/// Of a construct that only Python reads: a mail that has it is taken apart by Python, and goes on here.
pub const RARE: LeftToPython = LeftToPython("rare");

/// A header field: lower-case name, unfolded and decoded value.
pub type Field = (String, String);

/// A leaf of the MIME tree, decoded; see Part in Python for each field.
#[derive(Clone, Debug, Default, FromPyObject, IntoPyObject)]
pub struct Part {
    pub content_type: String,
    pub parameters: BTreeMap<String, String>,
    pub declared_charset: String,
    pub encoding: String,
    pub filename: String,
    pub disposition: String,
    pub size_bytes: usize,
    pub text: String,
    pub is_html: bool,
    pub is_replaced: bool,
    pub embedded_headers: Vec<Field>,
    pub embedded_names: Vec<String>,
    pub payload_magic: Vec<u8>,
    pub document: Option<Document>,
}

/// What is in an HTML text, as far as tokens need it.
#[derive(Clone, Debug, Default, FromPyObject, IntoPyObject)]
pub struct Html {
    pub visible: String,
    pub title: String,
    pub comments: usize,
    pub joined: usize,
    pub quoted: usize,
    /// (target, text of the link)
    pub links: Vec<(String, String)>,
    pub images: Vec<String>,
    pub alts: Vec<String>,
}

/// What is in an archive, a PDF or an office document; read by Python.
#[derive(Clone, Debug, Default, FromPyObject, IntoPyObject)]
pub struct Document {
    pub names: Vec<String>,
    pub addresses: Vec<String>,
    pub says: Vec<String>,
    pub marks: Vec<String>,
    pub text: String,
}

/// The bytes of a mail, and the raw fields of its top header block.
pub struct Raw<'a> {
    pub data: &'a [u8],
    pub spans: Vec<Span>,
}

impl Raw<'_> {
    pub fn new(data: &[u8]) -> Raw<'_> {
        Raw { data, spans: find_header_fields(data) }
    }
}

/// A mail that was taken apart.
#[derive(Clone, Debug, Default, FromPyObject, IntoPyObject)]
pub struct Message {
    pub headers: Vec<Field>,
    pub header_sizes: Vec<usize>,
    pub parts: Vec<Part>,
    pub structure: Vec<String>,
    pub defects: Vec<String>,
    pub body_bytes: usize,
}

impl Message {
    /// The first value of a field, by lower-case name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}
