//! The bounds of a message are named once, in nbspam/limits.py: this makes constants of them.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let path = ["../nbspam/limits.py", "limits.py"].into_iter().find(|path| Path::new(path).exists());
    let path = path.expect("limits.py is in the folder nbspam beside core, or in core");
    println!("cargo:rerun-if-changed={path}");
    let text = fs::read_to_string(path).expect("limits.py can be read");
    let mut found = String::new();
    for line in text.lines() {
        let Some((name, value)) = line.split('#').next().unwrap_or_default().split_once(" = ") else { continue };
        let name = name.strip_prefix("    ").unwrap_or(name); // of the class Allowance
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_number = value.bytes().all(|byte| byte.is_ascii_uppercase() || b"0123456789 _<+".contains(&byte));
        if is_name && is_number {
            let name = name.to_uppercase();
            writeln!(found, "#[allow(dead_code)]\npub const {name}: usize = {};", value.trim()).expect("memory");
        }
    }
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("bounds.rs"), found).expect("OUT_DIR can be written");
}
