//! Only the engine issues permits, after the gates have spoken, and only the policy says that a signature held. Clippy holds
//! the same fences by type; this one also sees code that is compiled out. The domain, where both are defined, and tests may
//! name the constructors.

use crate::rust_file::{Part, RustFile, rust_files};
use crate::{Finding, Tree};

struct Authority {
    constructor: &'static [&'static str],
    home: &'static str,
    refusal: &'static str,
}

const AUTHORITIES: [Authority; 2] = [
    Authority {
        constructor: &["Permit", ":", ":", "issue"],
        home: "windlass-engine",
        refusal: "only windlass-engine issues permits; ask `Host::authorise`",
    },
    Authority {
        constructor: &["Proof", ":", ":", "of_checked_signature"],
        home: "windlass-policy",
        refusal: "only windlass-policy says that a signature held; ask `approve::verify`",
    },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    rust_files(tree)
        .flat_map(|file| AUTHORITIES.iter().flat_map(move |authority| trespasses(authority, &file)))
        .collect()
}

fn trespasses(authority: &Authority, file: &RustFile<'_>) -> Vec<Finding> {
    let is_home = file.part == Part::Trial || [authority.home, "windlass-domain"].contains(&file.package);
    let lines = if is_home { Vec::new() } else { file.lines_with(authority.constructor) };
    lines.into_iter().map(|line| Finding::new(file.path, line, authority.refusal)).collect()
}
