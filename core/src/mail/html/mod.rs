//! nbspam/mail/html/__init__.py
