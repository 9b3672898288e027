//! All rules over one tree, less what an exception excuses. The order of the findings is by path and line, so that two runs
//! can be compared.

use std::collections::BTreeSet;

use crate::exceptions::Exception;
use crate::{Finding, Tree, rules};

pub type Rule = (&'static str, fn(&Tree) -> Vec<Finding>);

pub const RULES: &[Rule] = &[
    ("arrows", rules::arrows::check),
    ("changelog", rules::changelog::check),
    ("index-files", rules::index_files::check),
    ("layout", rules::layout::check),
    ("machine-paths", rules::machine_paths::check),
    ("names", rules::names::check),
    ("paragraphs", rules::paragraphs::check),
    ("permits", rules::permits::check),
    ("prompts", rules::prompts::check),
    ("size", rules::size::check),
    ("sources", rules::sources::check),
    ("unfinished", rules::unfinished::check),
];

pub fn tidy(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let mut used = BTreeSet::new();
    let mut findings: Vec<Finding> = all_findings(tree)
        .filter(|finding| match excuse(exceptions, finding) {
            Some(index) => {
                used.insert(index);
                false
            }
            None => true,
        })
        .collect();
    let unused = exceptions.iter().enumerate().filter(|(index, _)| !used.contains(index));
    findings.extend(unused.map(|(_, exception)| unneeded(exception)));
    findings.sort();
    findings
}

fn all_findings(tree: &Tree) -> impl Iterator<Item = Finding> {
    RULES.iter().flat_map(move |(rule, check)| check(tree).into_iter().map(move |finding| Finding { rule, ..finding }))
}

fn excuse(exceptions: &[Exception], finding: &Finding) -> Option<usize> {
    exceptions.iter().position(|exception| exception.rule == finding.rule && exception.path == finding.path)
}

fn unneeded(exception: &Exception) -> Finding {
    let message =
        format!("nothing here breaks `{}` any more; remove its exception from xtask/src/exceptions.rs", exception.rule);
    Finding { rule: "exceptions", ..Finding::new(exception.path, 1, message) }
}
