//! The four runs that are killed.

use crate::support::{Home, Ledger, Program};

pub struct Scenario {
    pub name: &'static str,
    script: &'static str,
    base_case: Option<&'static str>,
}

pub const SCENARIOS: [Scenario; 4] = [
    Scenario { name: "files", script: include_str!("../../scripts/files.yaml"), base_case: None },
    Scenario { name: "effects", script: include_str!("../../scripts/effects.yaml"), base_case: None },
    Scenario {
        name: "attempts",
        script: include_str!("../../scripts/attempts.yaml"),
        base_case: Some("command: grep -q right answer.txt"),
    },
    Scenario { name: "errors", script: include_str!("../../scripts/errors.yaml"), base_case: None },
];

/// Two agents side by side. What they do is interleaved as it happens, so that only what is left counts.
pub const CHILDREN: Scenario =
    Scenario { name: "children", script: include_str!("../../scripts/children.yaml"), base_case: None };

impl Scenario {
    /// Everything it needs, untouched.
    pub fn set_up(&self) -> (Home, Ledger) {
        let home = Home::playing(self.script);
        home.write("notes.txt", "alpha\nbeta\n");
        let ledger = Ledger::open(&home);
        (home, ledger)
    }

    pub fn run(&self, home: &Home) -> Program {
        let check = self.base_case.map(|check| ["--base-case", check]);
        home.run(check.as_ref().map_or(&[], |words| words.as_slice()))
    }
}
