//! Where a rule does not hold, and why. An exception that no longer excuses anything is itself a finding, as with
//! `#[expect]`, so this list cannot outgrow its reasons.

pub struct Exception {
    pub rule: &'static str,
    pub path: &'static str,
    pub reason: &'static str,
}

pub const GRANTED: &[Exception] = &[
    Exception {
        rule: "machine-paths",
        path: "xtask/tests/it/machine_paths.rs",
        reason: "the cases of this rule spell out what it forbids",
    },
    Exception {
        rule: "unfinished",
        path: "crates/windlass-sandbox/tests/it/attack.rs",
        reason: "each is an attack that other tests run as a program of its own, inside and outside a sandbox",
    },
    Exception {
        rule: "unfinished",
        path: "crates/windlass-sandbox/tests/it/owner.rs",
        reason: "each is an owner that other tests start as a program of its own and kill",
    },
];
