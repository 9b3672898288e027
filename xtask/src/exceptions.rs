//! Where a rule does not hold, and why. An exception that no longer excuses anything is itself a finding, as with
//! `#[expect]`, so this list cannot outgrow its reasons.

pub struct Exception {
    pub rule: &'static str,
    pub path: &'static str,
    pub reason: &'static str,
}

pub const GRANTED: &[Exception] = &[Exception {
    rule: "machine-paths",
    path: "xtask/tests/it/machine_paths.rs",
    reason: "the cases of this rule spell out what it forbids",
}];
