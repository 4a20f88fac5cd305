//! nbspam/tokens/addresses.py: addresses of hosts in numbers.

const MAX_DIGITS: usize = 40;

/// The dotted form of an IPv4 address as browsers read it; None for other text.
pub fn normalise_ipv4(host: &str) -> Option<String> {
    let parts: Vec<&str> = host.split('.').collect();
    let numbers: Vec<u64> = parts.iter().map(|part| read_number(part)).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let n_last = 4_usize.checked_sub(first.len())?;
    if n_last == 0 || *last >= 1 << (8 * n_last) || first.iter().any(|number| *number > 255) {
        return None;
    }
    let low = (0..n_last).rev().map(|place| (last >> (8 * place)) & 255);
    let shown: Vec<String> = first.iter().copied().chain(low).map(|number| number.to_string()).collect();
    Some(shown.join("."))
}

/// A hexadecimal (0x1f), octal (017) or decimal number; u64::MAX stands for all that are larger.
fn read_number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain || text.len() > MAX_DIGITS {
        return None;
    }
    // int() takes the prefix of a base once more.
    if let Some(digits) = strip_prefix(text, "0x") {
        return if digits.is_empty() {
            Some(0)
        } else {
            parse(strip_prefix(digits, "0x").unwrap_or(digits), 16)
        };
    }
    if text.starts_with('0') {
        return parse(strip_prefix(text, "0o").unwrap_or(text), 8);
    }
    parse(text, 10)
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let begins = text.get(..prefix.len())?.eq_ignore_ascii_case(prefix);
    if begins {
        text.get(prefix.len()..)
    } else {
        None
    }
}

fn parse(digits: &str, base: u32) -> Option<u64> {
    let mut number = 0_u64;
    for digit in digits.chars() {
        let digit = u64::from(digit.to_digit(base)?);
        number = number.saturating_mul(u64::from(base)).saturating_add(digit);
    }
    if digits.is_empty() {
        None
    } else {
        Some(number)
    }
}
