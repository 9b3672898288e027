//! `ask_user` (seed 000 §8.3): a question to the person whose task it is. The tool only says what would be asked; the host puts
//! the question, and the answer ends the call without this being run.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Reach, ToolSpec, UserQuestion};

use crate::context::Context;
use crate::tool::{Output, Preparing, Running, Tool, spec, typed};

const DESCRIPTION: &str = "\
Ask the user a question. Use when you need:
- Clarification about ambiguous requirements
- Approval before a high-impact action
- A choice between multiple approaches
- Information only the user can provide

This will pause execution until the user responds.";

/// More than anybody reads at a prompt belongs into a file.
const LONGEST_QUESTION: usize = 4_000;
const LONGEST_OPTION: usize = 500;
const MOST_OPTIONS: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct AskUser;

#[derive(Deserialize)]
struct Arguments {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    context: Option<String>,
}

impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        spec(
            "ask_user",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "question": { "type": "string" },
                    "options": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Suggested options (optional)",
                    },
                    "context": { "type": "string", "description": "Brief context for why you are asking" },
                },
                "required": ["question"],
            }),
        )
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let question = Some(question(typed(arguments)?)?);
        Ok(Prepared { question, ..Prepared::new(Effect::Read, Reach::Context) })
    }

    fn run<'a>(&'a self, _: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async { Output::error("nobody can be asked here") })
    }
}

fn question(arguments: Arguments) -> Result<UserQuestion, String> {
    let Arguments { question, options, context } = arguments;
    if question.trim().is_empty() {
        return Err("the question is empty; say what you want to know".to_owned());
    }
    let is_too_long = |text: &str, most| text.chars().count() > most;
    if is_too_long(&question, LONGEST_QUESTION)
        || context.as_deref().is_some_and(|text| is_too_long(text, LONGEST_QUESTION))
    {
        return Err(format!(
            "the question or its context is longer than {LONGEST_QUESTION} characters; write the details into a file of the \
             workspace and ask in a few sentences"
        ));
    }
    if options.len() > MOST_OPTIONS || options.iter().any(|option| is_too_long(option, LONGEST_OPTION)) {
        return Err(format!("give at most {MOST_OPTIONS} options of at most {LONGEST_OPTION} characters each"));
    }
    if options.iter().any(|option| option.contains(['\n', '\r'])) {
        return Err("each option is one line: what a person chooses is what they were shown".to_owned());
    }
    if options.iter().any(|option| option.trim().is_empty()) {
        return Err("an option is empty; leave it out".to_owned());
    }
    Ok(UserQuestion { question, options, context: context.filter(|text| !text.trim().is_empty()) })
}
