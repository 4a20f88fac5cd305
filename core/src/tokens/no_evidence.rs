//! nbspam/tokens/no_evidence.py: header fields that are no evidence.  Their names come from Python, once.

use crate::mail::message::Read;
use crate::python::call;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Whole names; beginnings of names, in order; words in names that begin with `x-`.
type Patterns = (BTreeSet<String>, Vec<String>, Vec<String>);

fn patterns() -> Read<&'static Patterns> {
    static PATTERNS: OnceLock<Patterns> = OnceLock::new();
    if let Some(patterns) = PATTERNS.get() {
        return Ok(patterns);
    }
    let (names, mut beginnings, words): (Vec<String>, Vec<String>, Vec<String>) =
        call("nbspam.tokens.no_evidence", "list_patterns", ())?;
    beginnings.sort_unstable();
    Ok(PATTERNS.get_or_init(|| (names.into_iter().collect(), beginnings, words)))
}

/// True unless NO_EVIDENCE in Python has the field.
pub fn counts_as_evidence(name: &str) -> Read<bool> {
    let (names, beginnings, words) = patterns()?;
    // Only the last beginning that is not after the name can begin it: none begins with another one.
    let place = beginnings.partition_point(|beginning| beginning.as_str() <= name);
    let last = place.checked_sub(1).and_then(|before| beginnings.get(before));
    let is_note = last.is_some_and(|beginning| name.starts_with(beginning))
        || names.contains(name)
        || (name.starts_with("x-") && words.iter().any(|word| name.contains(word)));
    Ok(!is_note)
}
