//! nbspam/limits.py: the bounds of a message.  A test compares the numbers with those of Python.

pub const MAX_HEADER_BYTES: usize = 256 << 10; // of each header block
pub const MAX_TOKENS: usize = 20_000;
pub const MAX_FIELD_NAME: usize = 998; // characters; RFC 5322 has no longer lines
pub const MAX_FROM_LINES: usize = 10; // mbox "From " lines one after the other
