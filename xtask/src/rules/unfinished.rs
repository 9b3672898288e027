//! Unfinished work does not land: no `todo!`, `unimplemented!` or `dbg!`, and no `#[ignore]`, since a test that does not run
//! proves nothing while looking as if it did. Clippy knows the macros too, but not in code that is compiled out.

use crate::rust_file::{RustFile, Token, rust_files};
use crate::{Finding, Tree};

const MACROS: &[(&str, &str)] = &[
    ("todo", "finish this, or leave it out and say so in an issue"),
    ("unimplemented", "finish this, or make the gap a visible answer"),
    ("dbg", "take the debugging print out"),
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    rust_files(tree).flat_map(|file| check_file(&file)).collect()
}

fn check_file(file: &RustFile<'_>) -> Vec<Finding> {
    let tokens = file.tokens();
    tokens
        .array_windows()
        .filter_map(|window: &[Token; 3]| {
            let advice = objection(window.each_ref().map(|token| token.text.as_str()))?;
            Some(Finding::new(file.path, window[0].line, advice))
        })
        .collect()
}

fn objection(words: [&str; 3]) -> Option<&'static str> {
    match words {
        ["#", "[", "ignore"] => Some("a test that does not run proves nothing; mend it or remove it"),
        // The bracket tells a macro from a comparison such as `todo != done`.
        [name, "!", "(" | "[" | "{"] => {
            MACROS.iter().find(|(unfinished, _)| *unfinished == name).map(|(_, advice)| *advice)
        }
        _ => None,
    }
}
