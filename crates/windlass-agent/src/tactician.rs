//! The tactician: a form of the same loop for models that are given no tools. Each question is a conversation of its own, made of
//! `context.md` as it is now and of the calls that are possible now, within the pattern's token budget; the answer is one
//! `EXECUTOR_DECISION`. What it decides becomes an answer like any other, so that gates, waves and recovery are those of everybody.

use serde_json::{Map, Value};
use windlass_domain::execution::{Answer, ExecutionState, NoAnswer, Outcome, Purpose, Question, RunnerCommand};
use windlass_domain::pattern::{Pattern, TokenBudget, context_page};
use windlass_domain::role_output::{ExecutorDecision, decision_schema, read_executor_decision};
use windlass_domain::{Delta, ErrorCode, ErrorDetails, Message, ToolCall, ToolSpec};
use windlass_llm::{Chat, Opening, Response, estimate};

use crate::ask::{Heard, answer_of};
use crate::prompt::filled;
use crate::session::{Ended, Session, ended};

const QUESTION: &str = include_str!("../../../prompts/tactician/question.md");
const REPAIR: &str = include_str!("../../../prompts/repair/tactician.md");
/// How often in a row an answer that cannot be used is handed back.
const MOST_REPAIRS: u32 = 1;
/// Of what is wrong with an answer, so much is told.
const MOST_PROBLEM_CHARS: usize = 300;
/// Of a tool's description, so much is listed.
const MOST_DESCRIPTION_CHARS: usize = 80;

/// What one question is made of.
struct Asking {
    words: String,
    schema: Value,
}

impl Session<'_> {
    /// One question, one decision. The request is durable before it is sent, as every other is.
    pub(crate) async fn ask_decision(&mut self) -> Result<(), Ended> {
        let estimated = self.open_tactician(&self.asking());
        if let Err(error) = estimated.room() {
            return Err(Outcome::Failed(ErrorDetails::new(ErrorCode::ContextOverflow, error.to_string())));
        }
        let ask = RunnerCommand::Ask(Question {
            purpose: Purpose::Turn,
            context: self.context.named,
            estimated_input: estimated.tokens(),
            estimated_cost: estimated.cost_to_read().unwrap_or_default(),
        });
        self.work.host.record(vec![ask]).await.map_err(ended)?;
        // Recording may have brought injections in.
        let mut chat = self.open_tactician(&self.asking());
        let begun = self.work.runtime.now();
        let answered = self.work.host.state().answers;
        // Nobody watches half a decision being written; that it takes longer is worth knowing.
        let host = self.work.host.clone();
        let mut watch = |delta| {
            if matches!(delta, Delta::Retrying { .. }) {
                host.emit(delta);
            }
        };
        match self.work.hear(chat.as_mut(), answered, &mut watch).await? {
            Heard::Answer(response) => match decided(&response, answered) {
                Ok((text, calls)) => {
                    let answer = answer_of(*response, self.work.runtime.now() - begun);
                    let answer = Answer { text, calls, reasoning: Vec::new(), ..answer };
                    self.work.host.stage(vec![RunnerCommand::Answer(answer)]).map_err(ended)
                }
                Err(problem) => self.hand_back(&response, problem),
            },
            Heard::Nothing(error) => {
                self.work.give_up(&error)?;
                Err(Outcome::Failed(ErrorDetails::new(ErrorCode::ModelRejected, error.to_string())))
            }
        }
    }

    /// Told what is wrong with it, once in a row; what it used is counted.
    fn hand_back(&self, response: &Response, problem: String) -> Result<(), Ended> {
        let problem: String = problem.chars().take(MOST_PROBLEM_CHARS).collect();
        let goes_on = self.work.host.state().unusable_answers < MOST_REPAIRS;
        let mut usage = response.usage;
        usage += response.lost;
        let no_answer = NoAnswer {
            reason: format!("the answer is no decision: {problem}"),
            usage,
            cost: response.cost.unwrap_or_default(),
            told: goes_on.then(|| filled(REPAIR.trim(), &[("problem", &problem)])),
        };
        let failed = ErrorDetails::new(ErrorCode::AnswerIncomplete, no_answer.reason.clone());
        self.work.host.stage(vec![RunnerCommand::GiveUp(no_answer)]).map_err(ended)?;
        if goes_on { Ok(()) } else { Err(Outcome::Failed(failed)) }
    }

    fn asking(&self) -> Asking {
        let state = self.work.host.state();
        let pattern = state.header.as_ref().and_then(|header| header.pattern.as_deref());
        let budget = pattern.map_or_else(TokenBudget::default, |pattern| pattern.token_budget);
        let tools = self.possible(&state);
        let listed: Vec<String> = tools.iter().map(|tool| listed(tool)).collect();
        let listed = if listed.is_empty() { "None: say DONE or ESCALATE.".to_owned() } else { listed.join("\n") };
        let for_tools = u64::from(budget.prompt).saturating_sub(estimate(&self.context.system));
        let page = context_page(&self.launch.task, &state).within(for_context(pattern, &budget), estimate);
        let note = newest_word(&state).map(|said| format!("{said}\n")).unwrap_or_default();
        let values = [("tools", &*cut_lines(&listed, for_tools)), ("context", &page), ("note", &note)];
        let schema = decision_schema(tools.iter().map(|tool| tool.name.as_str()).zip(&plain(&tools)));
        Asking { words: filled(QUESTION.trim(), &values), schema }
    }

    /// The tools that can be called now: those of the step, or all where there are no steps.
    fn possible(&self, state: &ExecutionState) -> Vec<&ToolSpec> {
        let open = state.tracker.as_ref().map(|tracker| tracker.open_tools(&self.around));
        let is_open = |tool: &&ToolSpec| open.as_ref().is_none_or(|open| open.contains(tool.name.as_str()));
        self.context.tools.iter().filter(is_open).collect()
    }

    fn open_tactician(&self, asking: &Asking) -> Box<dyn Chat> {
        let state = self.work.host.state();
        let pattern = state.header.as_ref().and_then(|header| header.pattern.as_deref());
        let mut chat = self.runner.provider.open(Opening {
            model: &self.model_now(),
            temperature: Some(pattern.map_or(Pattern::TEMPERATURE, |pattern| pattern.temperature)),
            max_output_tokens: Some(pattern.map_or(Pattern::MAX_OUTPUT_TOKENS, |pattern| pattern.max_output_tokens)),
            system: &self.context.system,
            tools: &[],
            answer_schema: Some(&asking.schema),
            agent: &self.launch.agent_id,
            role: self.launch.role,
        });
        chat.push(&Message::user(asking.words.clone()));
        chat
    }
}

/// What an answer comes to: its words and its call. The words of an end are kept as they came, for `next` to read.
fn decided(response: &Response, answered: u32) -> Result<(String, Vec<ToolCall>), String> {
    match read_executor_decision(&response.text)? {
        ExecutorDecision::CallTool { tool, arguments, reasoning } => {
            let arguments = Value::Object(arguments).to_string();
            Ok((reasoning, vec![ToolCall::new(format!("t{answered:05}"), &tool, &arguments)]))
        }
        ExecutorDecision::Done { .. } | ExecutorDecision::Escalate { .. } => Ok((response.text.clone(), Vec::new())),
    }
}

/// How the run ends, of an answer that calls nothing.
pub fn ending(text: &str) -> Outcome {
    match read_executor_decision(text) {
        Ok(ExecutorDecision::Done { reasoning }) if reasoning.is_empty() => {
            Outcome::Completed { message: "Done.".to_owned() }
        }
        Ok(ExecutorDecision::Done { reasoning }) => Outcome::Completed { message: reasoning },
        Ok(ExecutorDecision::Escalate { reasoning }) => {
            let message = format!("the agent cannot go on: {reasoning}");
            Outcome::Failed(ErrorDetails::new(ErrorCode::Stuck, message.trim_end_matches(": ")))
        }
        Ok(ExecutorDecision::CallTool { .. }) => {
            let message = "the agent decided on a call that was not made";
            Outcome::Failed(ErrorDetails::new(ErrorCode::AnswerIncomplete, message))
        }
        Err(problem) => Outcome::Failed(ErrorDetails::new(ErrorCode::AnswerIncomplete, problem)),
    }
}

fn for_context(pattern: Option<&Pattern>, budget: &TokenBudget) -> u64 {
    let of_document = pattern.and_then(|pattern| pattern.input_docs.first()).map(|document| document.max_tokens);
    u64::from(of_document.map_or(budget.input_docs, |most| most.min(budget.input_docs)))
}

/// What was said to the agent last, if nothing came after it.
fn newest_word(state: &ExecutionState) -> Option<&str> {
    match state.transcript.get(1..)?.last()?.as_ref() {
        Message::User { text, .. } => Some(text),
        Message::Assistant { .. } | Message::Tool(_) => None,
    }
}

/// `- read {"path": string, "offset"?: integer}: Read a file`.
fn listed(tool: &ToolSpec) -> String {
    let required: Vec<&str> =
        tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = tool.parameters["properties"].as_object().into_iter().flatten();
    let arguments = properties.map(|(name, schema)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("\"{name}\"{optional}: {}", schema["type"].as_str().unwrap_or("value"))
    });
    let description = tool.description.lines().next().unwrap_or_default();
    let description: String = description.chars().take(MOST_DESCRIPTION_CHARS).collect();
    format!("- {} {{{}}}: {description}", tool.name, arguments.collect::<Vec<_>>().join(", "))
}

/// Whole lines, the first of them in any case.
fn cut_lines(text: &str, most: u64) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        if !kept.is_empty() && estimate(&kept) + estimate(line) > most {
            kept.push_str("\n- …");
            break;
        }
        kept.push_str(if kept.is_empty() { "" } else { "\n" });
        kept.push_str(line);
    }
    kept
}

/// What servers that hold a model to a form all understand.
fn plain(tools: &[&ToolSpec]) -> Vec<Value> {
    tools.iter().map(|tool| plain_schema(&tool.parameters)).collect()
}

fn plain_schema(schema: &Value) -> Value {
    const KEPT: [&str; 6] = ["type", "enum", "required", "additionalProperties", "minimum", "maximum"];
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut plain: Map<String, Value> = schema
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let each = properties.iter().map(|(name, schema)| (name.clone(), plain_schema(schema)));
        plain.insert("properties".to_owned(), Value::Object(each.collect()));
        plain.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    if let Some(items) = schema.get("items") {
        plain.insert("items".to_owned(), plain_schema(items));
    }
    Value::Object(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_listed_on_one_line_with_its_arguments() {
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string", "minLength": 1}, "limit": {"type": "integer"}},
            "required": ["path"]});
        let tool = ToolSpec { name: "read".to_owned(), description: "Read a file.\nMore.".to_owned(), parameters };
        assert_eq!(listed(&tool), "- read {\"limit\"?: integer, \"path\": string}: Read a file.");
        let plain = plain_schema(&tool.parameters);
        assert_eq!(plain["properties"]["path"], json!({"type": "string"}));
        assert_eq!(plain["additionalProperties"], json!(false));
    }

    #[test]
    fn a_list_of_tools_is_cut_between_lines() {
        let listed = (0..50).map(|n| format!("- tool_{n} with words")).collect::<Vec<_>>().join("\n");
        let cut = cut_lines(&listed, 40);
        assert!(cut.starts_with("- tool_0 with words\n") && cut.ends_with("\n- …") && estimate(&cut) < 60, "{cut}");
        assert_eq!(cut_lines("- one", 0), "- one");
    }

    #[test]
    fn an_end_is_read_from_the_decision_and_nothing_else() {
        assert_eq!(ending(r#"{"action": "DONE", "reasoning": "ok"}"#), Outcome::Completed { message: "ok".to_owned() });
        let Outcome::Failed(error) = ending(r#"{"action": "ESCALATE", "reasoning": "no key"}"#) else {
            panic!("stuck")
        };
        assert_eq!((error.error_code, error.message.as_str()), (ErrorCode::Stuck, "the agent cannot go on: no key"));
        assert!(matches!(ending("prose"), Outcome::Failed(error) if error.error_code == ErrorCode::AnswerIncomplete));
    }
}
