//! nbspam/limits.py: the bounds of a message, and what it may still use of them.
//!
//! A test compares the numbers with those of Python.

pub const MAX_SCORED_BYTES: usize = 1 << 20; // of the body
pub const MAX_HEADER_BYTES: usize = 256 << 10; // of each header block
pub const MAX_HEADER_LINES: usize = 1_000; // fields of one header block
pub const MAX_NESTING: usize = 64; // multiparts and messages inside each other
pub const MAX_TOKENS: usize = 20_000;
pub const MAX_FIELD_NAME: usize = 998; // characters; RFC 5322 has no longer lines
pub const MAX_FROM_LINES: usize = 10; // mbox "From " lines one after the other
pub const MAX_PARAMETER_BYTES: usize = 8_192; // of one Content-Type or Content-Disposition
pub const MAX_PARAMETERS: usize = 200;

/// What one message may still cost, and what was found wrong with it.
pub struct Allowance {
    pub header_bytes: i64,
    pub parts: i64,
    pub encoded_words: i64,
    pub guesses: i64,
    pub boundary_guesses: i64,
    pub delimiter_lines: i64,
    pub defects: Vec<String>,
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
            defects: Vec::new(),
        }
    }
}

impl Allowance {
    /// Keep a defect; each slug once, in the order found.
    pub fn note(&mut self, slug: &str) {
        if !self.defects.iter().any(|defect| defect == slug) {
            self.defects.push(slug.to_string());
        }
    }
}
