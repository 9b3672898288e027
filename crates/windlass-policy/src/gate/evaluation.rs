//! Running the gates of one trigger over one subject. Gates that may rewrite come first, then those that judge what will
//! really happen (risk, taint, approval), each group in the order of the file. Where a script or a model is to be asked the
//! evaluation stops with a request and goes on with the answer.

use serde::Serialize;
use serde_json::Value;

use super::Decision;
use super::answer::{Answer, Request, RewriteAsked};
use super::config::Config;
use super::file::Gate;
use super::predicate;
use super::subject::{MAX_TEXT, Subject};
use super::vocabulary::{Escalation, Lane, Provider, Trigger};
use crate::risk::{Place, Table};

/// What risk gates judge by.
#[derive(Debug, Clone, Copy)]
pub struct Law<'a> {
    pub table: &'a Table,
    pub place: &'a Place,
}

/// What one gate said, for the audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    pub gate: String,
    pub lane: Lane,
    pub decision: Decision,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// Both versions of what a gate rewrote.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rewrite {
    pub gate: String,
    pub field: String,
    pub before: Value,
    pub after: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub decision: Decision,
    /// The gate that decided; none when all let it pass.
    pub by: Option<String>,
    /// What that gate wants done about it.
    pub on_block: Option<Escalation>,
    /// One for each gate of the trigger.
    pub records: Vec<Record>,
    pub rewritten: Vec<Rewrite>,
    /// As it is now, after every rewrite.
    pub subject: Subject,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Ask(Request),
    Done(Box<Outcome>),
}

pub struct Evaluation<'a> {
    trigger: Trigger,
    gates: Vec<&'a Gate>,
    next: usize,
    subject: Subject,
    records: Vec<Record>,
    rewritten: Vec<Rewrite>,
    law: Law<'a>,
    answer: Option<Answer>,
    asked: bool,
}

/// All gates at once, where none has to be asked elsewhere: a script or a model that is not answered has failed.
pub fn evaluate(gates: &[Gate], trigger: Trigger, subject: Subject, law: Law<'_>) -> Outcome {
    let mut evaluation = Evaluation::new(gates, trigger, subject, law);
    loop {
        match evaluation.step() {
            Step::Done(outcome) => return *outcome,
            Step::Ask(_) => evaluation.answer(Answer::Failed("nobody was there to ask".to_owned())),
        }
    }
}

impl<'a> Evaluation<'a> {
    /// In the order in which they come.
    pub fn new(gates: impl IntoIterator<Item = &'a Gate>, trigger: Trigger, subject: Subject, law: Law<'a>) -> Self {
        let (last, first): (Vec<&Gate>, Vec<&Gate>) =
            gates.into_iter().filter(|gate| gate.on == trigger).partition(|gate| gate.kind.looks_last());
        let gates = first.into_iter().chain(last).collect();
        let (records, rewritten) = (Vec::new(), Vec::new());
        Self { trigger, gates, next: 0, subject, records, rewritten, law, answer: None, asked: false }
    }

    /// Goes on until something has to be asked, or all is done. Going on without an answer is a failed answer.
    pub fn step(&mut self) -> Step {
        while let Some(gate) = self.gates.get(self.next).copied() {
            if self.applies(gate)
                && self.subject.size() <= MAX_TEXT
                && !self.asked
                && let Some(request) = self.request(gate)
            {
                self.asked = true;
                return Step::Ask(request);
            }
            let answer = std::mem::take(&mut self.asked).then(|| self.answer.take());
            let record = self.judge(gate, answer.flatten());
            self.records.push(record);
            self.next += 1;
        }
        Step::Done(Box::new(self.outcome()))
    }

    pub fn answer(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    fn applies(&self, gate: &Gate) -> bool {
        let named = |tool: &String| self.subject.tool.as_ref() == Some(tool);
        gate.tools.is_empty() || gate.tools.iter().any(named)
    }

    fn request(&self, gate: &Gate) -> Option<Request> {
        let input = || serde_json::to_string(&self.subject).expect("a subject is plain data");
        let gate_name = gate.name.clone();
        match &gate.config {
            Config::Script { run, timeout_seconds } => Some(Request::Script {
                gate: gate_name,
                argv: run.clone(),
                stdin: input(),
                timeout_seconds: *timeout_seconds,
            }),
            Config::Llm { criteria, timeout_seconds, .. } => Some(Request::Score {
                gate: gate_name,
                criteria: criteria.clone(),
                input: input(),
                timeout_seconds: *timeout_seconds,
            }),
            _ => None,
        }
    }

    fn judge(&mut self, gate: &Gate, answer: Option<Answer>) -> Record {
        let record = |decision, reason: String, score| Record {
            gate: gate.name.clone(),
            lane: gate.provider.lane(),
            decision,
            reason,
            score,
        };
        if let Provider::Unknown(name) = &gate.provider {
            return record(Decision::Block, format!("the provider `{name}` is not known"), None);
        }
        if !self.applies(gate) {
            return record(Decision::Continue, "it speaks of other tools".to_owned(), None);
        }
        if self.subject.size() > MAX_TEXT {
            return record(Decision::Block, "there is too much text to be judged".to_owned(), None);
        }
        let answer = answer.unwrap_or_else(|| Answer::Failed("there was no answer".to_owned()));
        match &gate.config {
            Config::Script { .. } => match self.obey(gate, answer) {
                Ok((decision, reason)) => record(decision, reason, None),
                Err(reason) => record(Decision::Block, reason, None),
            },
            Config::Llm { pass_threshold, .. } => {
                // A promoted gate may only tighten: a good score changes nothing, a failure blocks.
                let strict = if gate.promote_to_policy { Decision::Block } else { Decision::Continue };
                let promoted = |decision: Decision| match gate.effect {
                    Some(effect) if decision == Decision::Block => effect.decision(),
                    _ => decision,
                };
                match answer.score() {
                    Err(reason) => record(strict, reason, None),
                    Ok(score) if score.score < *pass_threshold => {
                        record(promoted(strict), score.reason, Some(score.score))
                    }
                    Ok(score) => record(Decision::Continue, score.reason, Some(score.score)),
                }
            }
            _ => {
                let said = predicate::judge(gate, &self.subject, &self.law);
                match said.rewrite.map_or(Ok(()), |rewrite| self.rewrite(rewrite)) {
                    Ok(()) => record(said.decision, said.reason, None),
                    Err(reason) => record(Decision::Block, reason, None),
                }
            }
        }
    }

    fn obey(&mut self, gate: &Gate, answer: Answer) -> Result<(Decision, String), String> {
        let verdict = answer.verdict()?;
        let RewriteAsked { message, response, tool_args } = verdict.rewrite.unwrap_or_default();
        let asked = [
            ("message", message.map(Value::String)),
            ("response", response.map(Value::String)),
            ("tool_args", tool_args),
        ];
        for (field, after) in asked {
            let Some(after) = after else { continue };
            if gate.kind.looks_last() {
                return Err("a gate that looks last may not rewrite".to_owned());
            }
            let before = self.subject.field(field).unwrap_or(Value::Null);
            self.rewrite(Rewrite { gate: gate.name.clone(), field: field.to_owned(), before, after })?;
        }
        Ok((verdict.decision, verdict.reason))
    }

    fn rewrite(&mut self, rewrite: Rewrite) -> Result<(), String> {
        let (first, path) = match rewrite.field.split_once('.') {
            Some((first, path)) => (first, Some(path)),
            None => (rewrite.field.as_str(), None),
        };
        if self.trigger.rewritable() != Some(first) {
            return Err(format!("`{first}` cannot be rewritten here"));
        }
        let replaced = match (first, path, &rewrite.after) {
            ("message", None, Value::String(text)) => self.subject.message.replace(text.clone()).is_some(),
            ("response", None, Value::String(text)) => self.subject.response.replace(text.clone()).is_some(),
            ("tool_args", None, after @ Value::Object(_)) => self.subject.tool_args.replace(after.clone()).is_some(),
            ("tool_args", Some(path), after) => {
                let target = self.subject.tool_args.as_mut();
                let target =
                    target.and_then(|arguments| path.split('.').try_fold(arguments, |value, name| value.get_mut(name)));
                target.map(|target| *target = after.clone()).is_some()
            }
            _ => false,
        };
        if !replaced {
            return Err(format!("`{}` cannot become what the gate wants", rewrite.field));
        }
        self.rewritten.push(rewrite);
        Ok(())
    }

    fn outcome(&mut self) -> Outcome {
        let decision = self.records.iter().map(|record| record.decision).max().unwrap_or(Decision::Continue);
        let decided = self.records.iter().position(|record| record.decision == decision);
        let gate = decided.filter(|_| decision != Decision::Continue).map(|index| self.gates[index]);
        Outcome {
            decision,
            by: gate.map(|gate| gate.name.clone()),
            on_block: gate.map(|gate| gate.on_block),
            records: std::mem::take(&mut self.records),
            rewritten: std::mem::take(&mut self.rewritten),
            subject: self.subject.clone(),
        }
    }
}
