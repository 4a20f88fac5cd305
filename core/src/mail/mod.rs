//! nbspam/mail/__init__.py

pub mod html;
pub mod message;
