//! What an execution's context holds, in words for the agent itself (seed 001 §3.3, `context_inspect`): how long the conversation
//! is, the plan, what is still asked, which files were touched, what went wrong. Read from the fold, so that it is what a
//! run that goes on tomorrow would hear as well.

use serde::{Deserialize, Serialize};

use crate::execution::{ErrorText, ExecutionState, OpenQuestion, Said};
use crate::message::Message;
use crate::usage::grouped;

/// Of something long, so many characters are told.
const MOST_CHARS: usize = 300;

/// A part of the context that can be looked at on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextZone {
    Messages,
    Plan,
    Questions,
    Files,
    Errors,
}

impl ContextZone {
    pub const WORDS: [&'static str; 5] = ["messages", "plan", "questions", "files", "errors"];
}

/// Without a zone, all of it in short.
pub fn inspect(state: &ExecutionState, zone: Option<ContextZone>) -> String {
    match zone {
        None => overview(state),
        Some(ContextZone::Messages) => messages(state),
        Some(ContextZone::Plan) => state.essentials.plan.clone().unwrap_or_else(|| "There is no plan.".to_owned()),
        Some(ContextZone::Questions) => {
            listed("No question waits for an answer.", state.essentials.questions.iter().map(asked))
        }
        Some(ContextZone::Files) => files(state),
        Some(ContextZone::Errors) => listed("Nothing went wrong.", state.essentials.errors.iter().map(went_wrong)),
    }
}

fn overview(state: &ExecutionState) -> String {
    let essentials = &state.essentials;
    let plan = if essentials.plan.is_some() { "there is one" } else { "none" };
    let files = essentials.files.len() + usize::try_from(essentials.more_files).unwrap_or_default();
    let errors = essentials.errors.len() + usize::try_from(essentials.more_errors).unwrap_or_default();
    let lines = [
        counts(state),
        tokens(state),
        format!("shortened: {} times", state.compactions.rewrites),
        format!("plan: {plan}"),
        format!("open questions: {}", essentials.questions.len()),
        format!("files touched: {files}"),
        format!("errors: {errors}"),
        format!("deliverables: {}", state.deliverables.len()),
        format!("taint: {}", state.taint.as_str()),
        format!("zones to look at: {}", ContextZone::WORDS.join(", ")),
    ];
    lines.join("\n")
}

fn counts(state: &ExecutionState) -> String {
    let (mut heard, mut said, mut results) = (0_u32, 0_u32, 0_u32);
    for message in &state.transcript {
        match message.as_ref() {
            Message::User { .. } => heard += 1,
            Message::Assistant { .. } => said += 1,
            Message::Tool(_) => results += 1,
        }
    }
    format!("messages: {} ({heard} to you, {said} of yours, {results} results of tools)", state.transcript.len())
}

fn tokens(state: &ExecutionState) -> String {
    let of_conversation = match &state.metered {
        Some((_, usage)) => grouped(usage.total()),
        None => "not known yet".to_owned(),
    };
    format!("tokens: {of_conversation} in the conversation, {} spent in all", grouped(state.spent.usage.total()))
}

/// What people said stands word for word, however often the conversation was shortened.
fn messages(state: &ExecutionState) -> String {
    let said = |said: Said<'_>| match said.to_question {
        Some(question) => format!("- {} (to your question: {})", short(said.words), short(question)),
        None => format!("- {}", short(said.words)),
    };
    let people = listed("Nobody has said anything since.", state.essentials.said_outside(&[]).map(said));
    format!("{}\n{}\n\nSaid by people after the task message:\n{people}", counts(state), tokens(state))
}

fn files(state: &ExecutionState) -> String {
    let essentials = &state.essentials;
    let more = (essentials.more_files > 0).then(|| format!("- and {} before these", essentials.more_files));
    listed("No file was touched.", essentials.files.iter().map(|file| format!("- {file}")).chain(more))
}

fn asked(question: &OpenQuestion) -> String {
    format!("- {}", short(&question.text))
}

fn went_wrong(error: &ErrorText) -> String {
    format!("- {} {}: {}", error.tool, error.arguments, short(error.text()))
}

fn listed(nothing: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { nothing.to_owned() } else { items.join("\n") }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
