//! nbspam/mail/html/__init__.py

mod entities;
mod reader;
mod styles;
mod tags;

pub use reader::read_html;
