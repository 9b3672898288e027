//! One check, in any of the forms it may be written in: `run` with an expectation, the short forms, and
//! `{type, value}`. Every field is read even after a problem, so that all of them are reported.

use windlass_domain::{Check, CheckProbe, DEFAULT_TIMEOUT, Expectation, FileExpectation};

use crate::fields::{Field, Fields, Unknown};
use crate::problem::{Collector, Position};
use crate::value;
use crate::yaml::Value;

use super::path::{path, paths};
use super::vacuous;

/// A check that may not have a name yet.
pub(crate) struct Draft {
    pub at: Position,
    pub name: Option<String>,
    pub probe: CheckProbe,
    pub timeout_seconds: u64,
    pub network: bool,
    pub protect: Vec<String>,
}

impl Draft {
    pub fn named(self, name: String) -> Check {
        let Self { probe, timeout_seconds, network, protect, .. } = self;
        Check { name, probe, timeout_seconds, network, protect }
    }
}

const OPTIONS: &[&str] = &["name", "timeout", "network", "protect"];
const EXPECTATIONS: &[&str] =
    &["exit_code", "equals", "contains", "regex", "output_lt", "output_gt", "file_exists", "not_empty"];
const SHORT: &[&str] = &["command", "not_command", "file", "not_file", "assertion", "quality"];
const SUBJECTS: &[&str] = &["run", "command", "not_command", "file", "not_file", "assertion", "quality", "type"];

pub(crate) fn check(fields: &Fields<'_>, problems: &mut Collector) -> Option<Draft> {
    let name = fields.get("name").and_then(|field| name(field, problems));
    let timeout = fields.get("timeout").map(|field| value::seconds(field, problems));
    let network = fields.get("network").map(|field| network(field, problems));
    let protect = fields.get("protect").map(|field| paths(field, problems));
    let probe = probe(fields, problems)?;
    Some(Draft {
        at: fields.at,
        name,
        probe,
        timeout_seconds: timeout.unwrap_or(Some(DEFAULT_TIMEOUT.as_secs()))?,
        network: network.unwrap_or(Some(false))?,
        protect: protect.unwrap_or(Some(Vec::new()))?,
    })
}

/// Accepting it and running without would let a check fail for a reason that nobody is told.
fn network(field: Field<'_>, problems: &mut Collector) -> Option<bool> {
    let wanted = value::boolean(field, problems)?;
    if wanted {
        problems.report(field.value.at, "`network: true` is not possible yet: checks run without a network");
    }
    (!wanted).then_some(false)
}

fn name(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let text = value::text(field, problems)?;
    let name = super::name::on_one_line(text);
    if name.is_empty() {
        problems.report(field.value.at, "`name` is empty; leave it out to have one made");
    }
    (!name.is_empty()).then_some(name)
}

fn probe(fields: &Fields<'_>, problems: &mut Collector) -> Option<CheckProbe> {
    let subject = match fields.given(SUBJECTS)[..] {
        [subject] => subject,
        [] => return bare_expectation(fields, problems),
        [first, .., last] => {
            fields.reject_unknown(&[SUBJECTS, EXPECTATIONS, OPTIONS, &["value", "pass_threshold"]].concat(), problems);
            let message =
                format!("`{}` and `{}` are two checks; make them two entries of a list", first.name, last.name);
            problems.report(last.at, message);
            return None;
        }
    };
    let read = match subject.name {
        "run" => {
            fields.reject_unknown(&[&["run"], EXPECTATIONS, OPTIONS].concat(), problems);
            run(subject, fields, problems)
        }
        "type" => typed(subject, fields, problems),
        _ => {
            refuse_expectations(subject, fields, problems);
            short(subject.name, subject, fields, problems)
        }
    }?;
    accepted(read, subject, vacuous::of_probe, problems)
}

/// The value, unless there is an objection to it.
fn accepted<T>(read: T, field: Field<'_>, objection: fn(&T) -> Option<String>, problems: &mut Collector) -> Option<T> {
    match objection(&read) {
        None => Some(read),
        Some(objection) => {
            problems.report(field.value.at, objection);
            None
        }
    }
}

/// `file_exists` and `not_empty` may stand alone and then are about a path.
fn bare_expectation(fields: &Fields<'_>, problems: &mut Collector) -> Option<CheckProbe> {
    let unknown = fields.reject_unknown(&[SUBJECTS, EXPECTATIONS, OPTIONS].concat(), problems);
    let (field, expect) = match fields.given(EXPECTATIONS)[..] {
        [field] if field.name == "file_exists" => (field, FileExpectation::Exists),
        [field] if field.name == "not_empty" && !is_boolean(field) => (field, FileExpectation::NotEmpty),
        [field, ..] => {
            problems.report(field.at, format!("`{}` of what? add `run` with the command that prints it", field.name));
            return None;
        }
        [] if unknown == Unknown::None => {
            problems
                .report(fields.at, "this checks nothing; give it a `command` that must succeed, a `file`, or a `run`");
            return None;
        }
        [] => return None,
    };
    Some(CheckProbe::File { path: path(field, problems)?, expect })
}

fn is_boolean(field: Field<'_>) -> bool {
    matches!(&field.value.value, Value::Text(text) if text == "true" || text == "false")
}

fn run(subject: Field<'_>, fields: &Fields<'_>, problems: &mut Collector) -> Option<CheckProbe> {
    let run = value::text(subject, problems);
    let given = fields.given(EXPECTATIONS);
    let expectations: Vec<_> = given.iter().map(|field| expectation(*field, problems)).collect();
    match given[..] {
        [_] => {}
        [] => {
            let message = format!("`run` needs one expectation: {}", EXPECTATIONS.join(", "));
            problems.report(subject.at, message);
        }
        [first, .., last] => {
            let message = format!("`{}` and `{}` are two expectations; make two checks of them", first.name, last.name);
            problems.report(last.at, message);
        }
    }
    match <[_; 1]>::try_from(expectations) {
        Ok([expect]) => Some(CheckProbe::Run { run: run?.to_owned(), expect: expect? }),
        Err(_) => None,
    }
}

fn expectation(field: Field<'_>, problems: &mut Collector) -> Option<Expectation> {
    let owned = |text: &str| text.to_owned();
    let read = match field.name {
        "exit_code" => Expectation::ExitCode(value::exit_code(field, problems)?),
        "equals" => Expectation::Equals(value::text(field, problems).map(owned)?),
        "contains" => Expectation::Contains(value::text(field, problems).map(owned)?),
        "regex" => Expectation::Regex(value::text(field, problems).map(owned)?),
        "output_lt" => Expectation::OutputLt(value::number(field, problems)?),
        "output_gt" => Expectation::OutputGt(value::number(field, problems)?),
        "file_exists" => Expectation::FileExists(path(field, problems)?),
        _ => {
            require_true(field, problems)?;
            Expectation::NotEmpty
        }
    };
    accepted(read, field, vacuous::of_expectation, problems)
}

fn require_true(field: Field<'_>, problems: &mut Collector) -> Option<()> {
    if value::boolean(field, problems)? {
        return Some(());
    }
    problems.report(field.value.at, "`not_empty: false` says nothing; write `equals: ''` if nothing may be printed");
    None
}

/// A short form is complete by itself, except that a `file` may also be asked to be `not_empty`.
fn refuse_expectations(subject: Field<'_>, fields: &Fields<'_>, problems: &mut Collector) {
    let extra: &[&str] = match subject.name {
        "file" => &["not_empty"],
        "quality" => &["pass_threshold"],
        _ => &[],
    };
    for field in fields.given(EXPECTATIONS).into_iter().filter(|field| !extra.contains(&field.name)) {
        let message =
            format!("`{}` is complete without `{}`; use `run` to expect something else", subject.name, field.name);
        problems.report(field.at, message);
    }
    fields.reject_unknown(&[&[subject.name], EXPECTATIONS, extra, OPTIONS].concat(), problems);
}

/// `{type: command, value: …}` means `{command: …}`.
fn typed(subject: Field<'_>, fields: &Fields<'_>, problems: &mut Collector) -> Option<CheckProbe> {
    fields.reject_unknown(&[&["type", "value", "pass_threshold"], OPTIONS].concat(), problems);
    let kind = value::text(subject, problems)?;
    if !SHORT.contains(&kind) {
        problems.report(subject.value.at, format!("`type` must be one of {}", SHORT.join(", ")));
        return None;
    }
    let Some(value) = fields.get("value") else {
        problems.report(subject.at, format!("`type: {kind}` needs a `value`"));
        return None;
    };
    short(kind, value, fields, problems)
}

fn short(form: &str, field: Field<'_>, fields: &Fields<'_>, problems: &mut Collector) -> Option<CheckProbe> {
    let run = |expect, problems: &mut Collector| {
        Some(CheckProbe::Run { run: value::text(field, problems)?.to_owned(), expect })
    };
    let file = |expect, problems: &mut Collector| Some(CheckProbe::File { path: path(field, problems)?, expect });
    match form {
        "command" => run(Expectation::ExitCode(0), problems),
        "not_command" => run(Expectation::NonZero, problems),
        "not_file" => file(FileExpectation::Absent, problems),
        "file" => {
            let not_empty = fields.get("not_empty").map(|field| require_true(field, problems));
            let expect = if not_empty.is_some() { FileExpectation::NotEmpty } else { FileExpectation::Exists };
            file(expect, problems)
        }
        judged => {
            let message = format!("`{judged}` needs a model to judge it, which this release cannot do; {JUDGED_HINT}");
            problems.report(field.at, message);
            None
        }
    }
}

/// Accepting one and leaving it out would call a result verified that was not.
const JUDGED_HINT: &str = "a finish line needs a check that a machine can decide, such as a `command`";
