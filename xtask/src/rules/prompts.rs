//! Every shipped prompt is used: some product source names `prompts/<file>`, usually in an `include_str!`. A prompt that
//! nothing reads looks like behaviour and is none.

use crate::rust_file::{Part, rust_files};
use crate::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let product: Vec<&str> = rust_files(tree)
        .filter(|file| file.part == Part::Product && file.package != "xtask")
        .map(|file| file.text)
        .collect();
    tree.files()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with("prompts/") && path.ends_with(".md") && !path.ends_with("/README.md"))
        .filter(|path| !product.iter().any(|text| text.contains(path)))
        .map(|path| Finding::new(path, 1, "no source reads this prompt; include it or remove it"))
        .collect()
}
