//! nbspam/mail/html/__init__.py

mod entities;
mod reader;
mod styles;
pub mod tags;

pub use reader::read_html;
