//! Plan documents with everything they hold: `windlass-plan` reads them, and their gates are held against the law's own reader.

use serde_json::Value;
use windlass_domain::plan::Plan;
use windlass_domain::{ErrorCode, ErrorDetails};
use windlass_plan::{Problems, parse_plan};
use windlass_policy::gate::{BadGates, read_gates};

pub fn read_plan(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &read_gate)
}

fn read_gate(gate: &Value) -> Result<(), String> {
    // A list of one, as a gate file would have it: JSON is YAML.
    let list = Value::Array(vec![gate.clone()]).to_string();
    match read_gates(&list) {
        Ok(_) => Ok(()),
        Err(BadGates(problems)) => {
            let told: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            Err(format!("this is not a gate: {}", told.join("; ")))
        }
    }
}

/// The plan in a planner's last words: as contracts §9's `AgentResponse`, or the document itself.
pub(crate) fn plan_in(said: &str) -> Result<Plan, ErrorDetails> {
    let no_plan = |message: String| ErrorDetails::new(ErrorCode::AnswerIncomplete, message);
    let document = document_in(said).ok_or_else(|| no_plan("the planner wrote no plan".to_owned()))?;
    read_plan(&document).map_err(|problems| no_plan(format!("the planner's plan cannot be used: {problems}")))
}

fn document_in(said: &str) -> Option<String> {
    let said = said.trim();
    if said.starts_with("---") {
        return Some(said.to_owned());
    }
    let from = said.find('{')?;
    let answer: Value = serde_json::Deserializer::from_str(&said[from..]).into_iter().next()?.ok()?;
    answer.pointer("/plan_action/plan_markdown")?.as_str().map(str::to_owned)
}
