//! What the operator's gates would say to a call that nobody makes, for whoever wants to know beforehand. Nothing is run for it: a gate that
//! is a script or asks a model says that it was not asked.

use serde_json::json;
use windlass_api::{GateTried, GateTryRequest};
use windlass_domain::Taint;
use windlass_policy::gate::{Answer, Evaluation, Law as Judged, Step, Subject, Trigger, risk_gate};
use windlass_policy::risk::Place;

use crate::law::Law;
use crate::show::word;

pub fn gates_tried(law: &Law, request: GateTryRequest) -> GateTried {
    let GateTryRequest { tool, tool_args, external } = request;
    let shipped = risk_gate();
    let gates = std::iter::once(&shipped).chain(&law.gates);
    let subject = Subject {
        message: None,
        response: None,
        tool: Some(tool),
        tool_args: Some(tool_args),
        step: None,
        taint: if external { Taint::External } else { Taint::Auth },
        files: std::collections::BTreeMap::new(),
    };
    let judged = Judged { table: &law.table, place: &Place::workspace() };
    let mut evaluation = Evaluation::new(gates, Trigger::OnToolCall, subject, judged);
    loop {
        match evaluation.step() {
            Step::Ask(_) => evaluation.answer(Answer::Failed("it was not asked: nothing is run for a try".to_owned())),
            Step::Done(outcome) => {
                let records = outcome.records.iter().map(|record| json!(record)).collect();
                return GateTried { decision: word(&outcome.decision), by: outcome.by, records };
            }
        }
    }
}
