//! nbspam/tables/: words that both readers share.

use std::sync::LazyLock;

pub const CHARSETS: &str = include_str!("../tables/charsets.txt");
pub const FIELDS: &str = include_str!("../tables/fields.txt");
pub const HTML: &str = include_str!("../tables/html.txt");
pub const KINDS: &str = include_str!("../tables/kinds.txt");
pub const LETTERS: &str = include_str!("../tables/letters.txt");

/// Some words of a table.
pub type Names = LazyLock<Vec<&'static str>>;

/// The name of each part of a table, and its words.
pub fn list_parts(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let parts = table.split('[').filter_map(|part| part.split_once(']'));
    parts.map(|(name, text)| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        (name, lines.flat_map(str::split_whitespace))
    })
}

/// The words of a part of a table.
pub fn list_words(table: &'static str, part: &str) -> Vec<&'static str> {
    list_parts(table).filter(|(name, _)| *name == part).flat_map(|(_, words)| words).collect()
}

/// The words `key=value` of a part of a table.
pub fn list_pairs(table: &'static str, part: &str) -> Vec<(&'static str, &'static str)> {
    list_words(table, part).into_iter().filter_map(|pair| pair.split_once('=')).collect()
}
