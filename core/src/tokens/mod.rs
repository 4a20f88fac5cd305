//! nbspam/tokens/__init__.py
