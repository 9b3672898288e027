//! The map of the crates: who may use whom, and which outside library lives where. This is the table of `ARCHITECTURE.md`
//! in a form that can be enforced; where that page draws the table, tidy compares the two. Crates that the page names but
//! that do not exist yet are already here, so that they arrive with their arrows.

/// What a crate may name under `[dependencies]` and `[build-dependencies]`. Tests may use anything.
pub enum MayUse {
    Only(&'static [&'static str]),
    /// Any crate on this map, which leaves out `testing/`.
    AnyOfThese,
}

use MayUse::{AnyOfThese, Only};

pub const CRATES: &[(&str, MayUse)] = &[
    ("windlass-domain", Only(&[])),
    ("windlass-runtime", Only(&["windlass-domain"])),
    ("windlass-plan", Only(&["windlass-domain"])),
    ("windlass-policy", Only(&["windlass-domain"])),
    ("windlass-store", Only(&["windlass-domain"])),
    ("windlass-llm", Only(&["windlass-domain"])),
    ("windlass-sandbox", Only(&[])),
    ("windlass-workspace", Only(&["windlass-domain"])),
    ("windlass-telemetry", Only(&["windlass-domain"])),
    ("windlass-terminal", Only(&[])),
    ("windlass-tools", Only(&["windlass-domain", "windlass-mcp", "windlass-sandbox", "windlass-workspace"])),
    ("windlass-mcp", Only(&["windlass-domain"])),
    ("windlass-agent", Only(&["windlass-domain", "windlass-llm", "windlass-tools"])),
    (
        "windlass-adapters",
        Only(&["windlass-domain", "windlass-llm", "windlass-mcp", "windlass-sandbox", "windlass-terminal"]),
    ),
    (
        "windlass-engine",
        Only(&[
            "windlass-domain",
            "windlass-plan",
            "windlass-policy",
            "windlass-store",
            "windlass-sandbox",
            "windlass-workspace",
        ]),
    ),
    ("windlass-api", Only(&[])),
    (
        "windlass-server",
        Only(&["windlass-domain", "windlass-engine", "windlass-mcp", "windlass-terminal", "windlass-api"]),
    ),
    ("windlass", AnyOfThese),
];

/// Crates that decide and never act: what they are given is all they know.
pub const PURE: &[&str] = &["windlass-domain", "windlass-plan", "windlass-policy"];

/// Libraries that wait, talk, look at the machine or throw dice.
pub const IMPURE_LIBRARIES: &[&str] =
    &["cap-std", "getrandom", "ignore", "nix", "rand", "reqwest", "rustix", "tempfile", "tokio"];

/// A heavy library has one home; the others go through it.
pub const LIBRARY_HOMES: &[(&str, &[&str])] = &[
    ("anyhow", &["windlass"]),
    ("axum", &["windlass-server"]),
    ("bollard", &["windlass-sandbox"]),
    ("clap", &["windlass"]),
    ("crossterm", &["windlass"]),
    ("jiff", &["windlass-plan"]),
    ("ratatui", &["windlass"]),
    ("redis", &["windlass-server"]),
    ("rusqlite", &["windlass-store"]),
    ("seccompiler", &["windlass-sandbox"]),
    ("tokio-postgres", &["windlass-store"]),
];

pub fn may_use(krate: &str) -> Option<&'static MayUse> {
    CRATES.iter().find(|(name, _)| *name == krate).map(|(_, may_use)| may_use)
}
