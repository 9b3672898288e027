//! A pattern's document, field for field with the defaults of contracts §8. Every field is read even after a problem, so that all of
//! them are reported.

use windlass_domain::pattern::{InputDoc, PathType, Pattern, Step, TokenBudget};

use super::condition::{About, conditions};
use crate::fields::{Field, Fields, Unknown};
use crate::problem::{Collector, Position, Problems};
use crate::suggestion::nearest;
use crate::value;
use crate::yaml::{self, Node, Value};

const MOST_BYTES: usize = 64 * 1024;
const MOST_STEPS: usize = 20;
const MOST_TRANSITIONS: u32 = 100;
const MOST_RETRIES: u32 = 100;
const MOST_FRAGMENTS: usize = 10;
const LONGEST_NAME: usize = 64;
const LONGEST_LINE: usize = 300;
const LONGEST_FRAGMENT: usize = 4_000;
const MOST_TOKENS: u32 = 1_000_000;

const KNOWN: &[&str] = &[
    "name",
    "description",
    "role",
    "phase",
    "steps",
    "max_steps",
    "prompt_fragments",
    "input_docs",
    "token_budget",
    "temperature",
    "max_output_tokens",
];
const STEP: &[&str] = &["name", "tools", "done_when", "skip_when", "on_fail", "retries", "optional"];
const DOC: &[&str] = &["path", "optional", "max_tokens", "path_type"];
const BUDGET: &[&str] = &["total", "prompt", "input_docs", "output", "buffer"];

pub fn parse_pattern(document: &str) -> Result<Pattern, Problems> {
    let mut problems = Collector::default();
    let node = yaml::read(document, MOST_BYTES, &mut problems);
    match node.and_then(|node| pattern(&node, &mut problems)) {
        Some(pattern) => problems.finish(pattern),
        None => Err(problems.into_problems("this is no pattern; it needs `name`, `description` and `steps`")),
    }
}

fn pattern(node: &Node, problems: &mut Collector) -> Option<Pattern> {
    let Some(fields) = Fields::of(node, problems) else {
        problems.report(node.at, "a pattern is a mapping with `name`, `description` and `steps`");
        return None;
    };
    require(&fields, KNOWN, &["name", "description", "steps"], problems);
    let name = fields.get("name").and_then(|field| word(field, problems));
    let description = fields.get("description").and_then(|field| line(field, problems));
    let steps = fields.get("steps").and_then(|field| steps(field, problems));
    let token_budget = fields.get("token_budget").map(|field| budget(field, problems)).unwrap_or_default();
    let max_output_tokens = count(&fields, "max_output_tokens", 1..=MOST_TOKENS, problems);
    let pattern = Pattern {
        role: fields.get("role").and_then(|field| role(field, problems)).unwrap_or_else(|| "executor".to_owned()),
        phase: fields.get("phase").and_then(|field| word(field, problems)).unwrap_or_else(|| "execution".to_owned()),
        max_steps: count(&fields, "max_steps", 1..=MOST_TRANSITIONS, problems).unwrap_or(Pattern::MAX_STEPS),
        prompt_fragments: fields.get("prompt_fragments").map(|field| fragments(field, problems)).unwrap_or_default(),
        input_docs: match fields.get("input_docs") {
            Some(field) => {
                list(field, problems).iter().filter_map(|doc| input_doc(doc, &token_budget, problems)).collect()
            }
            None => vec![context(token_budget.input_docs)],
        },
        temperature: fields
            .get("temperature")
            .and_then(|field| temperature(field, problems))
            .unwrap_or(Pattern::TEMPERATURE),
        max_output_tokens: max_output_tokens.unwrap_or(Pattern::MAX_OUTPUT_TOKENS),
        token_budget,
        name: name?,
        description: description?,
        steps: steps?,
    };
    weigh(&fields, &pattern, problems);
    Some(pattern)
}

/// What can only be said of several fields together.
fn weigh(fields: &Fields<'_>, pattern: &Pattern, problems: &mut Collector) {
    let at = |name: &str| fields.get(name).map_or(fields.at, |field| field.value.at);
    let steps = u32::try_from(pattern.steps.len()).unwrap_or(u32::MAX);
    if pattern.max_steps < steps {
        let message =
            format!("`max_steps` is {}, and there are {steps} steps: it could not come to the last", pattern.max_steps);
        problems.report(at("max_steps"), message);
    }
    let budget = &pattern.token_budget;
    if budget.parts() > u64::from(budget.total) {
        let message = format!(
            "prompt, input_docs, output and buffer come to {} tokens, `total` is {}",
            budget.parts(),
            budget.total
        );
        problems.report(at("token_budget"), message);
    }
    if pattern.max_output_tokens > budget.output {
        let message = format!(
            "`max_output_tokens` is {}, and `token_budget` has {} for output",
            pattern.max_output_tokens, budget.output
        );
        problems.report(at("max_output_tokens"), message);
    }
    if !pattern.input_docs.iter().any(|doc| doc.path == Pattern::CONTEXT) {
        problems.report(at("input_docs"), "`context.md` must be among `input_docs`: it says what is to be done");
    }
}

fn require(fields: &Fields<'_>, known: &[&str], needed: &[&str], problems: &mut Collector) {
    if fields.reject_unknown(known, problems) == Unknown::Some {
        return;
    }
    for name in needed.iter().filter(|name| fields.get(name).is_none()) {
        problems.report(fields.at, format!("`{name}` is missing"));
    }
}

fn steps(field: Field<'_>, problems: &mut Collector) -> Option<Vec<Step>> {
    let written = list(field, problems);
    if written.is_empty() || written.len() > MOST_STEPS {
        problems.report(field.value.at, format!("a pattern has 1 to {MOST_STEPS} steps"));
        return None;
    }
    let mut places: Vec<(Step, Position, Option<Position>)> = Vec::new();
    for item in written {
        let Some((step, on_fail)) = step(item.value, problems) else { continue };
        if let Some((_, first, _)) = places.iter().find(|(known, ..)| known.name == step.name) {
            problems.report(item.at, format!("the step `{}` is already there at {first}", step.name));
        }
        places.push((step, item.at, on_fail));
    }
    let names: Vec<&str> = places.iter().map(|(step, ..)| step.name.as_str()).collect();
    for (step, _, at) in &places {
        let (Some(target), Some(at)) = (&step.on_fail, at) else { continue };
        if !names.contains(&target.as_str()) {
            let hint = nearest(target, &names).map_or_else(
                || format!("the steps are {}", names.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            problems.report(*at, format!("`on_fail: {target}` names no step; {hint}"));
        }
    }
    Some(places.into_iter().map(|(step, ..)| step).collect())
}

/// With the place of its `on_fail`.
fn step(node: &Node, problems: &mut Collector) -> Option<(Step, Option<Position>)> {
    let Some(fields) = Fields::of(node, problems) else {
        problems.report(node.at, format!("a step is a mapping with a `name`, not {}", node.kind()));
        return None;
    };
    require(&fields, STEP, &["name"], problems);
    let on_fail = fields.get("on_fail");
    let step = Step {
        tools: fields.get("tools").map(|field| tools(field, problems)).unwrap_or_default(),
        done_when: fields.get("done_when").map(|field| conditions(field, About::Done, problems)).unwrap_or_default(),
        skip_when: fields
            .get("skip_when")
            .map(|field| conditions(field, About::Skipping, problems))
            .unwrap_or_default(),
        on_fail: on_fail.and_then(|field| word(field, problems)),
        retries: count(&fields, "retries", 0..=MOST_RETRIES, problems).unwrap_or(Pattern::RETRIES),
        optional: fields.get("optional").and_then(|field| value::boolean(field, problems)).unwrap_or_default(),
        name: fields.get("name").and_then(|field| word(field, problems))?,
    };
    let failing = ["on_fail", "retries"].into_iter().find_map(|name| fields.get(name));
    if let (true, Some(field)) = (step.tools.is_empty(), failing) {
        problems.report(field.at, format!("`{}` is about calls, and this step has no `tools`", field.name));
    }
    Some((step, on_fail.map(|field| field.value.at)))
}

/// Names of tools; whether there are such tools is seen when the work begins, because that depends on where.
pub(super) fn tools(field: Field<'_>, problems: &mut Collector) -> Vec<String> {
    let written = match &field.value.value {
        Value::Text(_) => vec![field],
        _ => list(field, problems),
    };
    written.into_iter().filter_map(|field| word(field, problems)).collect()
}

fn input_doc(field: &Field<'_>, budget: &TokenBudget, problems: &mut Collector) -> Option<InputDoc> {
    let Some(fields) = Fields::of(field.value, problems) else {
        problems.report(field.value.at, format!("a document is a mapping of {}", DOC.join(", ")));
        return None;
    };
    require(&fields, DOC, &["path"], problems);
    let path = fields.get("path")?;
    if value::text(path, problems)? != Pattern::CONTEXT {
        problems.report(path.value.at, "only `context.md` is handed over; let a step read other files");
    }
    if let Some(field) = fields.get("path_type")
        && value::text(field, problems).is_some_and(|text| text != "turn")
    {
        problems.report(field.value.at, "`path_type` must be `turn`");
    }
    Some(InputDoc {
        optional: fields.get("optional").and_then(|field| value::boolean(field, problems)).unwrap_or_default(),
        max_tokens: count(&fields, "max_tokens", 1..=MOST_TOKENS, problems).unwrap_or(budget.input_docs),
        ..context(0)
    })
}

fn context(max_tokens: u32) -> InputDoc {
    InputDoc { path: Pattern::CONTEXT.to_owned(), optional: false, max_tokens, path_type: PathType::Turn }
}

fn budget(field: Field<'_>, problems: &mut Collector) -> TokenBudget {
    let default = TokenBudget::default();
    let Some(fields) = Fields::of(field.value, problems) else {
        problems.report(field.value.at, format!("`token_budget` is a mapping of {}", BUDGET.join(", ")));
        return default;
    };
    fields.reject_unknown(BUDGET, problems);
    let mut read = |name: &str, otherwise: u32| count(&fields, name, 1..=MOST_TOKENS, problems).unwrap_or(otherwise);
    TokenBudget {
        total: read("total", default.total),
        prompt: read("prompt", default.prompt),
        input_docs: read("input_docs", default.input_docs),
        output: read("output", default.output),
        buffer: read("buffer", default.buffer),
    }
}

fn fragments(field: Field<'_>, problems: &mut Collector) -> Vec<String> {
    let written = list(field, problems);
    if written.len() > MOST_FRAGMENTS {
        problems.report(field.value.at, format!("at most {MOST_FRAGMENTS} `prompt_fragments` are read"));
    }
    let fragment = |field: Field<'_>| {
        let text = value::text(field, problems)?.trim().to_owned();
        if text.is_empty() || text.len() > LONGEST_FRAGMENT {
            problems.report(field.value.at, format!("a fragment has 1 to {LONGEST_FRAGMENT} letters"));
        }
        Some(text)
    };
    written.into_iter().filter_map(fragment).collect()
}

fn role(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let role = word(field, problems)?;
    if role != "executor" {
        problems.report(field.value.at, "`role` must be `executor`: nobody else follows a pattern");
    }
    Some(role)
}

fn temperature(field: Field<'_>, problems: &mut Collector) -> Option<f64> {
    let temperature = value::number(field, problems)?;
    if !(0.0..=2.0).contains(&temperature) {
        problems.report(field.value.at, "`temperature` must be from 0 to 2");
    }
    Some(temperature)
}

fn count(
    fields: &Fields<'_>,
    name: &str,
    range: std::ops::RangeInclusive<u32>,
    problems: &mut Collector,
) -> Option<u32> {
    let field = fields.get(name)?;
    let count = value::count::<u32>(field, problems)?;
    if !range.contains(&count) {
        let message = format!("`{name}` must be from {} to {}", range.start(), range.end());
        problems.report(field.value.at, message);
        return None;
    }
    Some(count)
}

fn word(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let text = value::text(field, problems)?;
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '/');
    if text.is_empty() || text.len() > LONGEST_NAME || !text.chars().all(is_word) {
        problems.report(field.value.at, format!("`{}` must be a word of at most {LONGEST_NAME} letters", field.name));
        return None;
    }
    Some(text.to_owned())
}

fn line(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let line = value::text(field, problems)?.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.len() > LONGEST_LINE || line.chars().any(char::is_control) {
        problems.report(field.value.at, format!("`{}` must be one line of 1 to {LONGEST_LINE} letters", field.name));
        return None;
    }
    Some(line)
}

/// Each entry, as if the field held it alone.
fn list<'a>(field: Field<'a>, problems: &mut Collector) -> Vec<Field<'a>> {
    match &field.value.value {
        Value::List(items) => items.iter().map(|value| Field { at: value.at, value, ..field }).collect(),
        Value::Null => Vec::new(),
        Value::Text(_) | Value::Map(_) => {
            let message = format!("`{}` is a list, not {}; write it in brackets", field.name, field.value.kind());
            problems.report(field.value.at, message);
            Vec::new()
        }
    }
}
