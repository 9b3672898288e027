//! The card of a plan: what would be done in which order, by what it is judged, and everything its agents would be told. Whoever says
//! yes to it has seen all of that.

use serde::Deserialize as _;
use serde_json::Value;
use windlass_domain::Usd;
use windlass_domain::approval::{Card, WorstCase};

use super::card::{at_worst, figures, labelled, taint_note, texts, whole};
use super::line::{Line, first_line, quoted, verbatim};
use super::narrate::counted;
use super::style::Style;

/// Names longer than this are not waited for.
const WIDEST: usize = 16;

pub fn is_plan(card: &Card) -> bool {
    card.details["kind"] == "plan"
}

/// All of it below the card's head.
pub fn plan(card: &Card) -> Vec<Line> {
    let details = &card.details;
    let revision = details["revision"].as_u64().filter(|revision| *revision > 1);
    let revision = revision.map(|revision| format!("revision {revision}"));
    let label = if details["objective"].is_object() { "objective" } else { "plan" };
    let title = labelled(label).add(Style::Bold, first_line(&card.intent)).gap().facts(Style::Dim, revision);
    let mut lines = vec![title];
    lines.extend(words("", &card.rationale));
    match details["objective"].is_object() {
        true => lines.extend(objective(details)),
        false => lines.extend(words("context", text(details, "context"))),
    }
    lines.extend(words("limits", text(details, "constraints")));
    lines.extend(words("if stuck", text(details, "if_you_get_stuck")));
    lines.extend(texts(&details["rules"]).map(|rule| labelled("rule").plain(first_line(rule))));
    if let Some(deadline) = details["deadline"].as_str() {
        let then = format!("then {}", text(details, "deadline_action"));
        lines.push(labelled("deadline").plain(deadline).point(Style::Dim).plain(then));
    }
    lines.extend(items(details));
    lines.extend(together(details));
    lines.push(
        labelled("in")
            .plain(text(details, "workspace"))
            .point(Style::Dim)
            .plain(format!("sandbox {}", text(details, "sandbox"))),
    );
    lines.push(labelled("model").facts(Style::Plain, models(details)));
    lines.extend(taint_note(details));
    lines.push(labelled("then").plain(&card.consequence_label));
    lines.extend(card.worst_case.as_ref().map(worst_case));
    lines
}

/// What was agreed on: when it is over, why it is done, and the limits of it.
fn objective(details: &Value) -> Vec<Line> {
    let agreed = &details["objective"];
    let checks = texts(&details["verify"]).flat_map(|check| match check.contains('\n') {
        false => vec![labelled("over when").plain(check)],
        true => std::iter::once(labelled("over when")).chain(whole(check)).collect(),
    });
    // Everybody is told all of it.
    let goal = text(agreed, "goal").trim();
    let mut lines = if goal.lines().count() > 1 { words("goal", goal) } else { Vec::new() };
    lines.extend(checks);
    for (label, name) in [
        ("why", "background_intent"),
        ("delivers", "deliverables"),
        ("done when", "definition_of_done"),
        ("words", "words"),
    ] {
        lines.extend(words(label, text(agreed, name)));
    }
    let limits = &agreed["constraints"];
    let count = |name: &str, thing: &str| limits[name].as_u64().map(|number| counted(number, thing));
    let limits = [
        limits["max_iterations"].as_u64().map(|passes| format!("{passes} passes")),
        count("max_parallel_agents", "agent").map(|agents| format!("{agents} at once")),
        count("max_atoms", "atom"),
        count("max_replan_depth", "more plan"),
    ];
    lines.push(labelled("limits").facts(Style::Plain, limits.into_iter().flatten()));
    lines
}

fn items(details: &Value) -> Vec<Line> {
    let items: Vec<&Value> = details["items"].as_array().into_iter().flatten().collect();
    let width = items.iter().map(|item| text(item, "id").chars().count()).max().unwrap_or_default().min(WIDEST);
    let work = items.iter().filter(|item| text(item, "type") != "project").count() as u64;
    let head = labelled("items").plain(counted(work, "item")).dim(", each in a copy of your folder");
    std::iter::once(head).chain(items.iter().flat_map(|item| self::item(item, details, width))).collect()
}

fn item(item: &Value, details: &Value, width: usize) -> Vec<Line> {
    let name = format!("    {:<width$}  ", text(item, "id"));
    let indent = " ".repeat(name.chars().count());
    let mut lines = vec![Line::marked(Style::Accent, &name).add(Style::Bold, first_line(text(item, "title")))];
    let facts = facts(item, details);
    if !facts.is_empty() {
        lines.push(Line::marked(Style::Plain, &indent).facts(Style::Dim, facts));
    }
    for check in texts(&item["verify"]) {
        lines.extend(self::check(check, &indent));
    }
    for gate in item["gates"].as_array().into_iter().flatten() {
        lines.push(Line::marked(Style::Dim, &format!("{indent}gate ")).plain(gate.to_string()));
    }
    // The words of the whole stand above.
    if !item["within"].is_null() {
        for (label, name) in [("context", "context"), ("limits", "constraints"), ("if stuck", "if_you_get_stuck")] {
            let own = text(item, name).trim();
            if !own.is_empty() {
                lines.push(Line::marked(Style::Dim, &format!("{indent}{label}:")));
                lines.extend(quoted(own).map(|line| line.behind(Style::Plain, &indent)));
            }
        }
    }
    let own = text(item, "what_to_do").trim();
    // A plan of one task has said it above.
    if !own.is_empty() && own != text(item, "title").trim() && !item["within"].is_null() {
        lines.extend(quoted(own).map(|line| line.behind(Style::Plain, &indent)));
    }
    lines
}

/// Every line of it: the second may say something else than the first.
fn check(check: &str, indent: &str) -> Vec<Line> {
    let mark = format!("{indent}check ");
    match check.contains('\n') {
        false => vec![Line::marked(Style::Dim, &mark).plain(check)],
        true => std::iter::once(Line::marked(Style::Dim, &mark))
            .chain(verbatim(check).map(|line| line.behind(Style::Plain, indent)))
            .collect(),
    }
}

/// Where it is not the usual one.
fn own_budget(budget: &Value) -> Option<String> {
    let attempts = u32::try_from(budget["max_attempts"].as_u64()?).ok()?;
    let (tokens, seconds) = (budget["max_tokens"].as_u64()?, budget["max_wall_time_seconds"].as_u64()?);
    let cost = Usd::deserialize(&budget["max_cost_usd"]).ok()?;
    Some(format!("at most {}", figures(attempts, tokens, Some(cost), seconds.saturating_mul(1_000)).join(" · ")))
}

fn facts(item: &Value, details: &Value) -> Vec<String> {
    let names = |value: &Value, between: &str| texts(value).collect::<Vec<_>>().join(between);
    let listed = |before: &str, value: &Value, between: &str| {
        Some(names(value, between)).filter(|names| !names.is_empty()).map(|names| format!("{before}{names}"))
    };
    let is_project = text(item, "type") == "project";
    let within = text(item, "within");
    let part_of = (!within.is_empty() && within != text(details, "plan_id")).then(|| format!("part of {within}"));
    let choice =
        Some(text(item, "any_of")).filter(|group| !group.is_empty()).map(|group| format!("a choice of {group}"));
    let agent = Some(text(item, "agent")).filter(|agent| !is_project && *agent != "executor");
    let no_check = !is_project && texts(&item["verify"]).next().is_none();
    [
        is_project.then(|| "project".to_owned()),
        part_of,
        listed("after ", &item["depends_on"], " and "),
        choice,
        agent.map(|agent| format!("agent {agent}")),
        listed("skills ", &item["skills"], ", "),
        listed("touches ", &item["touches"]["paths"], ", "),
        listed("services ", &item["touches"]["services"], ", "),
        item["speculative"].as_bool().filter(|is| *is).map(|_| "tried beside the others".to_owned()),
        item["probe"].as_bool().filter(|is| *is).map(|_| "looked at first".to_owned()),
        Some(text(item, "pattern"))
            .filter(|pattern| !pattern.is_empty() && *pattern != "generic")
            .map(|pattern| format!("pattern {pattern}")),
        listed("is given what is delivered by ", &item["input_artifacts_from"], ", "),
        item["follow_up_of"].as_str().map(|earlier| format!("follows {earlier}")),
        item["continuation_of"].as_str().map(|earlier| format!("goes on from {earlier}")),
        own_budget(&item["own_budget"]),
        no_check.then(|| "no check".to_owned()),
    ]
    .into_iter()
    .flatten()
    .chain(handling(item))
    .collect()
}

/// When its user is asked, and what follows from trouble, where that is not as usual.
fn handling(item: &Value) -> Vec<String> {
    let usual = [
        ("interaction_mode", "confirm_always", "asks before every change"),
        ("on_stuck", "escalate_human", "asks you when it is stuck"),
        ("on_stuck", "retry", "asks nobody when it is stuck"),
        ("on_failure", "escalate_human", "asks you when nothing is left to try"),
    ];
    let said = usual.into_iter().filter(|(name, word, _)| text(item, name) == *word).map(|(.., says)| says.to_owned());
    let escalation = item["escalation"].as_object().into_iter().flatten();
    let escalation = escalation.map(|(trouble, word)| format!("{trouble}: {}", word.as_str().unwrap_or_default()));
    said.chain(escalation).collect()
}

/// What is checked on the work of all.
fn together(details: &Value) -> Vec<Line> {
    let is_said = details["items"][0]["within"].is_null() || details["objective"].is_object();
    let checks = texts(&details["verify"]).filter(|_| !is_said);
    let lines = |check| match str::contains(check, '\n') {
        false => vec![labelled("together").dim("check ").plain(check)],
        true => std::iter::once(labelled("together").dim("check")).chain(whole(check)).collect(),
    };
    checks.flat_map(lines).collect()
}

fn models(details: &Value) -> Vec<String> {
    let (model, planner) = (text(details, "model"), text(details, "planner_model"));
    let planner = (planner != model).then(|| format!("{planner} for planners"));
    std::iter::once(model.to_owned()).chain(planner).collect()
}

fn words(label: &str, said: &str) -> Vec<Line> {
    if said.trim().is_empty() {
        return Vec::new();
    }
    let head = (!label.is_empty()).then(|| Line::marked(Style::Dim, &format!("  {label}")));
    head.into_iter().chain(quoted(said.trim()).map(|line| line.behind(Style::Plain, "  "))).collect()
}

fn worst_case(worst: &WorstCase) -> Line {
    // A limit is looked at before each call, so that the last one may go over it.
    labelled("at worst").facts(Style::Plain, at_worst(worst)).plain(", and one model call more for each item")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
