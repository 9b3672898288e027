//! Plan documents with everything they hold: `windlass-plan` reads them, and their gates are held against the law's own reader.

use serde_json::Value;
use windlass_domain::plan::Plan;
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
