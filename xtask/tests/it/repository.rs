//! This repository keeps its own rules.

use xtask::{Finding, Tree, exceptions, tidy};

#[test]
fn the_repository_is_tidy() {
    let tree = Tree::of_this_repository().expect("the repository can be read");
    assert!(tree.text("xtask/tests/it/repository.rs").is_some(), "tidy looked somewhere else");
    let findings: Vec<String> = tidy(&tree, exceptions::GRANTED).iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
