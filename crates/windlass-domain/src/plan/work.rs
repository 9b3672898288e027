//! An item as work for somebody: what they are told, from the document alone, so that what was approved and what is done can be
//! compared word for word.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::item::{Briefing, Item, ItemKind, Plan, PlanBudget, Touches};
use super::words::{AtomId, Handling, InteractionMode, OnFailure, OnStuck};
use crate::budget::Budget;
use crate::check::BaseCase;

impl Plan {
    /// One item, with everything as contracts §1 has it where nothing is said.
    pub fn of_one(id: AtomId, title: String, what_to_do: String) -> Self {
        Self(Item {
            id,
            kind: ItemKind::Task,
            title,
            tasks: Vec::new(),
            depends_on: Vec::new(),
            any_of: None,
            speculative: false,
            needs_approval: true,
            agent: "executor".to_owned(),
            skills: Vec::new(),
            pattern: "generic".to_owned(),
            probe: false,
            interaction_mode: InteractionMode::ConfirmOnlyWhenRequired,
            budget: Budget::default(),
            plan_budget: PlanBudget::default(),
            verify: BaseCase(Vec::new()),
            gates: Vec::new(),
            touches: Touches::default(),
            input_artifacts_from: Vec::new(),
            follow_up_of: None,
            continuation_of: None,
            on_stuck: OnStuck::ConsultPlanner,
            on_failure: OnFailure::Report,
            escalation: BTreeMap::new(),
            schedule: None,
            timezone: None,
            failure_context: None,
            briefing: Briefing { what_to_do, ..Briefing::default() },
        })
    }

    pub fn find(&self, atom: &AtomId) -> Option<&Item> {
        self.0.all().into_iter().find(|item| item.id == *atom)
    }

    /// What whoever works on `atom` is told.
    pub fn told(&self, atom: &AtomId) -> Option<String> {
        told(&self.line(atom)?)
    }

    /// The gates that hold for whoever works on `atom`: those of what holds it, then its own.
    pub fn gates(&self, atom: &AtomId) -> Vec<Value> {
        self.line(atom).into_iter().flatten().flat_map(|item| item.gates.clone()).collect()
    }

    /// What is said of `atom` and of what holds it.
    pub fn touches(&self, atom: &AtomId) -> Touches {
        touches(&self.line(atom).unwrap_or_default())
    }

    /// What whoever works on `atom` is to read up on.
    pub fn skills(&self, atom: &AtomId) -> Vec<&str> {
        skills(&self.line(atom).unwrap_or_default())
    }

    /// The items and groups whose deliverables whoever works on `atom` is given.
    pub fn inputs(&self, atom: &AtomId) -> Vec<&AtomId> {
        self.line(atom).into_iter().flatten().flat_map(|item| &item.input_artifacts_from).collect()
    }

    /// The earlier plans that `atom` goes on from, by the ids of their tasks or their own.
    pub fn earlier(&self, atom: &AtomId) -> Vec<&str> {
        let line = self.line(atom).into_iter().flatten();
        let mut named: Vec<&str> =
            line.flat_map(|item| item.follow_up_of.iter().chain(&item.continuation_of)).map(String::as_str).collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// From the whole down to `atom`.
    fn line(&self, atom: &AtomId) -> Option<Vec<&Item>> {
        fn down<'a>(item: &'a Item, atom: &AtomId) -> Option<Vec<&'a Item>> {
            if item.id == *atom {
                return Some(vec![item]);
            }
            let mut below = item.tasks.iter().find_map(|part| down(part, atom))?;
            below.insert(0, item);
            Some(below)
        }
        down(&self.0, atom)
    }
}

/// The words for the last of these, each of which holds the next. What it has none of its own for is said by what holds it.
pub fn told(line: &[&Item]) -> Option<String> {
    let item = line.last()?;
    let words = |of: fn(&Briefing) -> &String| {
        let own = line.iter().rev().map(|item| of(&item.briefing).trim());
        own.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
    };
    let parts = [
        ("# Context", words(|briefing| &briefing.context)),
        ("# What to do", words(|briefing| &briefing.what_to_do)),
        ("# Constraints", words(|briefing| &briefing.constraints)),
        ("# If you get stuck", words(|briefing| &briefing.if_you_get_stuck)),
    ];
    let said = parts.into_iter().filter(|(_, words)| !words.is_empty());
    let skills = skills(line);
    let skills =
        (!skills.is_empty()).then(|| format!("# Skills\n\nRead these before you begin: {}", skills.join(", ")));
    let sections = said.map(|(heading, words)| format!("{heading}\n\n{words}")).chain(skills);
    Some([item.title.clone()].into_iter().chain(sections).collect::<Vec<_>>().join("\n\n"))
}

/// What the last of these says that it will change, and what all that hold it say: it may be any of that, as far as anybody knows.
pub fn touches(line: &[&Item]) -> Touches {
    let all = |of: fn(&Touches) -> &Vec<String>| {
        once(line.iter().flat_map(|item| of(&item.touches))).map(ToOwned::to_owned).collect()
    };
    Touches { paths: all(|touches| &touches.paths), services: all(|touches| &touches.services) }
}

/// What whoever works on the last of these is to read up on, the words for all first.
pub fn skills<'a>(line: &[&'a Item]) -> Vec<&'a str> {
    once(line.iter().flat_map(|item| &item.skills)).collect()
}

/// Each as it comes first.
fn once<'a>(words: impl Iterator<Item = &'a String>) -> impl Iterator<Item = &'a str> {
    let mut seen = BTreeSet::new();
    words.map(String::as_str).filter(move |word| seen.insert(*word))
}

/// How whoever works on the last of these is dealt with. What holds it can only ask people more often, and of two words about the
/// same trouble the inner one counts.
pub fn handling(line: &[&Item]) -> Handling {
    let mut handling = Handling::default();
    for item in line {
        if item.on_failure == OnFailure::EscalateHuman {
            handling.on_failure = item.on_failure;
        }
        if item.interaction_mode == InteractionMode::ConfirmAlways {
            handling.interaction_mode = item.interaction_mode;
        }
        handling.escalation.extend(&item.escalation);
    }
    handling
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, touches: (&[&str], &[&str]), skills: &[&str]) -> Item {
        let Plan(item) = Plan::of_one(AtomId::parse(id).expect("a plain word"), id.to_owned(), "Do it.".to_owned());
        let touches = Touches { paths: owned(touches.0), services: owned(touches.1) };
        Item { touches, skills: owned(skills), ..item }
    }

    fn plan() -> Plan {
        let inner = Item {
            tasks: vec![item("a", (&["src", "docs"], &[]), &["rust", "tests"]), item("b", (&[], &["mail"]), &[])],
            ..item("inner", (&["docs"], &["database"]), &["tests"])
        };
        let tasks = vec![inner, item("beside", (&["beside"], &[]), &[])];
        Plan(Item { tasks, ..item("whole", (&[], &["staging"]), &["house-rules"]) })
    }

    #[test]
    fn what_a_project_touches_and_reads_holds_for_all_that_it_holds() {
        let check = |atom: &str, paths: &[&str], services: &[&str], skills: &[&str]| {
            let (plan, atom) = (plan(), AtomId::parse(atom).unwrap());
            let Touches { paths: found, services: used } = plan.touches(&atom);
            assert_eq!((found.as_slice(), used.as_slice()), (owned(paths).as_slice(), owned(services).as_slice()));
            assert_eq!(plan.skills(&atom), skills);
            let told = plan.told(&atom).unwrap();
            assert!(told.ends_with(&format!("Read these before you begin: {}", skills.join(", "))), "{told}");
        };
        let both = ["house-rules", "tests"];
        check("a", &["docs", "src"], &["staging", "database"], &["house-rules", "tests", "rust"]);
        check("b", &["docs"], &["staging", "database", "mail"], &both);
        check("beside", &["beside"], &["staging"], &["house-rules"]);
        check("inner", &["docs"], &["staging", "database"], &both);
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }
}
