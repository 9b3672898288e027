//! Whether two plans are the same work. What items and groups are called is for people, and what planners may use is no part of the
//! work; everything else is.

use std::collections::BTreeMap;

use super::item::{Item, Plan, PlanBudget};
use super::words::AtomId;

impl Plan {
    pub fn is_same_work(&self, other: &Self) -> bool {
        nameless(self) == nameless(other)
    }
}

/// Items and groups are called by where they first stand, and have no titles.
fn nameless(Plan(root): &Plan) -> Item {
    let mut names = BTreeMap::new();
    for item in root.all() {
        for name in [Some(&item.id), item.any_of.as_ref()].into_iter().flatten() {
            let number = names.len();
            names.entry(name).or_insert_with(|| AtomId::parse(&number.to_string()).expect("a number is a plain word"));
        }
    }
    let mut root = root.clone();
    rename(&mut root, &names);
    root
}

fn rename(item: &mut Item, names: &BTreeMap<&AtomId, AtomId>) {
    // A name that is not in the plan stays what it is.
    let renamed = |name: &AtomId| names.get(name).unwrap_or(name).clone();
    let all = |list: &[AtomId]| {
        let mut list: Vec<AtomId> = list.iter().map(renamed).collect();
        list.sort();
        list.dedup();
        list
    };
    item.title.clear();
    item.plan_budget = PlanBudget::default();
    item.depends_on = all(&item.depends_on);
    item.input_artifacts_from = all(&item.input_artifacts_from);
    item.any_of = item.any_of.as_ref().map(renamed);
    item.id = renamed(&item.id);
    let words = &mut item.briefing;
    for text in [&mut words.context, &mut words.what_to_do, &mut words.constraints, &mut words.if_you_get_stuck] {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    item.tasks.iter_mut().for_each(|part| rename(part, names));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b` after `a`, and one of two ways, as the ids in `names` are called.
    fn plan(names: [&str; 6]) -> Plan {
        let [whole, a, b, way, first, second] = names.map(|name| AtomId::parse(name).expect("a plain word"));
        let item = |id: &AtomId| {
            let Plan(item) = Plan::of_one(id.clone(), format!("Title of {id}"), "Do it.".to_owned());
            item
        };
        let mut root = item(&whole);
        root.tasks = vec![
            item(&a),
            Item { depends_on: vec![a.clone(), way.clone()], input_artifacts_from: vec![a], ..item(&b) },
            Item { any_of: Some(way.clone()), ..item(&first) },
            Item { any_of: Some(way), ..item(&second) },
        ];
        Plan(root)
    }

    fn usual() -> Plan {
        plan(["whole", "a", "b", "way", "first", "second"])
    }

    #[test]
    fn other_names_are_the_same_work() {
        assert!(usual().is_same_work(&usual()));
        assert!(usual().is_same_work(&plan(["all", "x", "y", "either", "one", "two"])));
        assert!(usual().is_same_work(&plan(["whole", "b", "a", "second", "way", "first"])), "names change places");
        let mut other = usual();
        other.0.tasks[1].depends_on.reverse();
        other.0.tasks[1].briefing.what_to_do = "Do\n  it.".to_owned();
        other.0.plan_budget.max_tokens += 1;
        assert!(usual().is_same_work(&other), "nor does any of this change what is done");
    }

    #[test]
    fn whatever_is_done_otherwise_is_other_work() {
        type Change = (&'static str, fn(&mut Item));
        let changes: [Change; 8] = [
            ("its words", |item| item.briefing.what_to_do = "Do it differently.".to_owned()),
            ("what it waits for", |item| item.depends_on.truncate(1)),
            ("what it is given", |item| item.input_artifacts_from.clear()),
            ("its agent", |item| item.agent = "other".to_owned()),
            ("its attempts", |item| item.budget.max_attempts += 1),
            ("what it touches", |item| item.touches.paths.push("src".to_owned())),
            ("its skills", |item| item.skills.push("tarot".to_owned())),
            ("whether somebody looks first", |item| item.probe = true),
        ];
        for (what, change) in changes {
            let mut other = usual();
            change(&mut other.0.tasks[1]);
            assert!(!usual().is_same_work(&other), "{what}");
        }
        let mut other = usual();
        other.0.tasks.swap(2, 3);
        assert!(usual().is_same_work(&other), "both ways are alike");
        other.0.tasks[2].agent = "other".to_owned();
        let mut swapped = other.clone();
        swapped.0.tasks.swap(2, 3);
        assert!(!other.is_same_work(&swapped), "another way is tried first");
        other.0.tasks.pop();
        assert!(!usual().is_same_work(&other));
    }
}
