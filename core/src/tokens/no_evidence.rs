//! nbspam/tokens/no_evidence.py: header fields that are no evidence.  Their names come from Python, once.

use crate::mail::message::Read;
use crate::python::call;
use std::sync::OnceLock;

/// Names, in order, true for a beginning of names; words in names that begin with `x-`.
type Patterns = (Vec<(String, bool)>, Vec<String>);

fn patterns() -> Read<&'static Patterns> {
    static PATTERNS: OnceLock<Patterns> = OnceLock::new();
    if let Some(patterns) = PATTERNS.get() {
        return Ok(patterns);
    }
    let found = call("nbspam.tokens.no_evidence", "list_patterns", ())?;
    Ok(PATTERNS.get_or_init(|| found))
}

/// True unless NO_EVIDENCE in Python has the field.
pub fn counts_as_evidence(name: &str) -> Read<bool> {
    let (names, words) = patterns()?;
    // Only the last one that is not after the name can be it or begin it: none begins with a beginning.
    let place = names.partition_point(|(known, _)| known.as_str() <= name);
    let is_note = match place.checked_sub(1).and_then(|last| names.get(last)) {
        Some((beginning, true)) => name.starts_with(beginning),
        Some((known, false)) => known == name,
        None => false,
    };
    let has_word = || words.iter().any(|word| name.contains(word));
    Ok(!(is_note || (name.starts_with("x-") && has_word())))
}
