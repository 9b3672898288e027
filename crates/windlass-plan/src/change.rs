//! Redirects in words, read into the one change that they ask for: the same from flags, from a terminal and from a planner.

use serde_json::Value;
use windlass_domain::BaseCase;
use windlass_domain::graph::{Addition, Change, GraphState, Objective};
use windlass_domain::is_hidden;
use windlass_domain::plan::AtomId;
use windlass_domain::role_output::{WantedBinding, WantedChange, WantedGraph, WantedLimits, WantedObjective, Written};

use crate::check::parse_base_case;
use crate::document::parse_atom;
use crate::problem::Problems;

/// Why words ask for no change, or not for one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoChange {
    #[error("nothing is to be different")]
    Nothing,
    #[error("these are changes of several kinds, and each touches something else")]
    Several,
    #[error("this task has no objective")]
    NoObjective,
    #[error("the check `{text}`:\n{problems}")]
    Check { text: String, problems: Problems },
    #[error("the atom `{text}`:\n{problems}")]
    Atom { text: String, problems: Problems },
    #[error("`{id}` is no id: {problem}")]
    NoId { id: String, problem: String },
    #[error("there is something in it that nobody would see: leave out control characters and marks without width")]
    Hidden,
}

/// What is wanted of `graph`, of one kind, and a sentence for it.
pub fn change_of(wanted: &WantedChange, graph: &GraphState) -> Result<(Change, String), NoChange> {
    let WantedChange { objective, graph: adjusts, limits, binding, .. } = wanted;
    let aims = (*objective != WantedObjective::default()).then(|| aimed(objective, graph)).transpose()?;
    let adjusts = (*adjusts != WantedGraph::default()).then(|| adjusted(adjusts)).transpose()?;
    let limits = (*limits != WantedLimits::default()).then(|| limited(limits, graph));
    let binding = binding.as_ref().map(bound).transpose()?;
    let mut changes = [aims, adjusts, limits, binding].into_iter().flatten();
    match (changes.next(), changes.next()) {
        (Some((change, _)), None) if hides(&serde_json::to_value(&change).unwrap_or_default()) => Err(NoChange::Hidden),
        (Some(one), None) => Ok(one),
        (None, _) => Err(NoChange::Nothing),
        (Some(_), Some(_)) => Err(NoChange::Several),
    }
}

/// After everything was read: what is written as an escape is a letter by then.
fn hides(value: &Value) -> bool {
    let is_bad = |text: &String| text.chars().any(|letter| is_hidden(letter) && !matches!(letter, '\n' | '\t'));
    match value {
        Value::String(text) => is_bad(text),
        Value::Array(values) => values.iter().any(hides),
        Value::Object(fields) => fields.iter().any(|(name, value)| is_bad(name) || hides(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn aimed(wanted: &WantedObjective, graph: &GraphState) -> Result<(Change, String), NoChange> {
    let agreed = graph.objective.clone().ok_or(NoChange::NoObjective)?;
    let base_case = if wanted.base_case.is_empty() { agreed.base_case } else { checks(&wanted.base_case)? };
    let objective = Objective {
        goal: wanted.goal.clone().unwrap_or(agreed.goal),
        base_case,
        background_intent: wanted.intent.clone().unwrap_or(agreed.background_intent),
        deliverables: match wanted.deliverables.is_empty() {
            true => agreed.deliverables,
            false => wanted.deliverables.join("\n"),
        },
        definition_of_done: wanted.done.clone().unwrap_or(agreed.definition_of_done),
        constraints: agreed.constraints,
        words: agreed.words,
    };
    let description = format!("the objective is now: {}", objective.goal);
    Ok((Change::Objective { objective: Box::new(objective) }, description))
}

fn checks(written: &[Written]) -> Result<BaseCase, NoChange> {
    let read = written.iter().map(|Written(text)| {
        parse_base_case(text).map_err(|problems| NoChange::Check { text: text.clone(), problems })
    });
    Ok(BaseCase(read.collect::<Result<Vec<_>, _>>()?.into_iter().flat_map(|BaseCase(checks)| checks).collect()))
}

fn adjusted(wanted: &WantedGraph) -> Result<(Change, String), NoChange> {
    let to = wanted.to.as_deref().map(named).transpose()?;
    let add = wanted.add.iter().map(|Written(text)| {
        let item = parse_atom(text).map_err(|problems| NoChange::Atom { text: text.clone(), problems })?;
        Ok(Addition { to: to.clone(), item })
    });
    let add = add.collect::<Result<Vec<_>, NoChange>>()?;
    let drop = wanted.drop.iter().map(|id| named(id)).collect::<Result<Vec<_>, _>>()?;
    let select = wanted.select.iter().map(|(group, choice)| Ok((named(group)?, named(choice)?)));
    let select = select.collect::<Result<Vec<_>, NoChange>>()?;
    let added = add.iter().map(|addition| format!("with `{}`", addition.item.id));
    let dropped = drop.iter().map(|atom| format!("without `{atom}`"));
    let selected = select.iter().map(|(group, choice)| format!("`{choice}` for `{group}`"));
    let parts: Vec<String> = added.chain(dropped).chain(selected).collect();
    if parts.is_empty() {
        return Err(NoChange::Nothing);
    }
    Ok((Change::Graph { add, drop, select }, format!("the graph is now {}", parts.join(", "))))
}

fn limited(wanted: &WantedLimits, graph: &GraphState) -> (Change, String) {
    let agreed = graph.objective.as_ref().map(|agreed| agreed.constraints.clone()).unwrap_or_default();
    let constraints = wanted.over(agreed);
    (Change::Constraints { constraints }, "its limits are others now".to_owned())
}

fn bound(WantedBinding { atom, text }: &WantedBinding) -> Result<(Change, String), NoChange> {
    let (atom, summary) = (named(atom)?, text.trim().to_owned());
    let description = format!("`{atom}` came to something else: {summary}");
    Ok((Change::Binding { atom, summary }, description))
}

fn named(id: &str) -> Result<AtomId, NoChange> {
    let id = id.trim();
    AtomId::parse(id).map_err(|problem| NoChange::NoId { id: id.to_owned(), problem: problem.to_string() })
}

#[cfg(test)]
mod tests {
    use windlass_domain::graph::GraphEvent;
    use windlass_domain::role_output::read_wanted_change;

    use super::*;

    /// What a planner's answer comes to, in a word.
    fn check(answer: &str, expected: Result<&str, &str>) {
        let wanted = read_wanted_change(answer).expect("an answer");
        match (change_of(&wanted, &GraphState::default()), expected) {
            (Ok((_, description)), Ok(expected)) => assert_eq!(description, expected, "{answer}"),
            (Err(why), Err(expected)) => assert!(why.to_string().contains(expected), "{answer}: {why}"),
            (change, _) => panic!("{answer}: {change:?}"),
        }
    }

    #[test]
    fn an_answer_is_one_change_of_one_kind() {
        check(
            r#"{"graph": {"add": [{"id": "d", "description": "Do \"it\"."}], "drop": ["a"], "select": {"g": "b"}}}"#,
            Ok("the graph is now with `d`, without `a`, `b` for `g`"),
        );
        check(r#"{"graph": {"add": ["{id: d, description: Do it.}"]}}"#, Ok("the graph is now with `d`"));
        check(r#"{"limits": {"max_iterations": 40}}"#, Ok("its limits are others now"));
        check(r#"{"binding": {"atom": "a", "text": " in b "}}"#, Ok("`a` came to something else: in b"));
        check(r#"{"message": "no", "graph": {"to": "a"}}"#, Err("nothing is to be different"));
        check(r#"{"limits": {"max_atoms": 9}, "graph": {"drop": ["a"]}}"#, Err("several kinds"));
    }

    /// What JSON reads as an escape, YAML reads as the letter.
    #[test]
    fn what_nobody_would_see_is_refused_wherever_it_hides() {
        let hidden = Err("nobody would see");
        check(r#"{"graph": {"add": ["{id: d, description: \"harm\\u202eless\"}"]}}"#, hidden);
        check(
            r#"{"graph": {"add": ["{id: d, description: D, verify: [{command: \"test -f d \\x1b[2K\"}]}"]}}"#,
            hidden,
        );
        check(r#"{"graph": {"add": ["{id: d, description: \"two\\nlines\"}"]}}"#, Ok("the graph is now with `d`"));
    }

    #[test]
    fn what_it_names_is_read_as_in_a_file() {
        check(r#"{"graph": {"drop": ["The Docs"]}}"#, Err("`The Docs` is no id"));
        check(r#"{"graph": {"add": [{"id": "d"}]}}"#, Err("`description` is missing"));
        check(r#"{"graph": {"add": [{"id": "d", "description": "D", "colour": "blue"}]}}"#, Err("`colour`"));
        check(r#"{"objective": {"goal": "Another"}}"#, Err("has no objective"));
        let aims = r#"{"objective": {"base_case": [{"command": "true"}]}}"#;
        let objective = Objective {
            goal: "G".to_owned(),
            base_case: BaseCase::default(),
            background_intent: "why".to_owned(),
            deliverables: String::new(),
            definition_of_done: String::new(),
            constraints: windlass_domain::graph::Constraints::default(),
            words: String::new(),
        };
        let mut graph = GraphState::default();
        graph.apply(&GraphEvent::ObjectiveAligned(objective));
        let refused = change_of(&read_wanted_change(aims).expect("an answer"), &graph).expect_err("it cannot fail");
        assert!(matches!(refused, NoChange::Check { .. }), "{refused}");
        let good = read_wanted_change(r#"{"objective": {"base_case": [{"file": "b.txt"}]}}"#).expect("an answer");
        let Ok((Change::Objective { objective: aimed }, _)) = change_of(&good, &graph) else { panic!("another kind") };
        assert_eq!((aimed.goal.as_str(), aimed.background_intent.as_str()), ("G", "why"), "what is left out stays");
        assert_eq!(aimed.base_case, parse_base_case("file: b.txt").expect("a check"));
    }
}
