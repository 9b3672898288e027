//! What can be said to a task just now: the registry of message kinds, from its newest execution as its journal has it.

use serde_json::{Value, json};
use windlass_domain::TaskId;
use windlass_domain::execution::{AnsweredBy, Carrier, ExecutionState, Hearer, Lifecycle, MessageKind};
use windlass_domain::task::ModelChoice;
use windlass_engine::JournalRecord;

use super::drive::explain;
use super::find::is_driven;
use crate::arguments::Output;
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style, word};
use crate::wiring::Windlass;

/// Fails where it could not be delivered, and says why.
pub async fn can_hear(windlass: &Windlass, task: TaskId, kind: MessageKind) -> anyhow::Result<()> {
    let delivery = hearer(windlass, task).await?.delivery(kind);
    delivery.map(drop).map_err(|why| {
        let (kind, short) = (kind.as_str(), task.short());
        WrongUse::new(format!("a message of the kind `{kind}` cannot be delivered to task {short}: {why}"))
            .hint(format!("what can be: windlass send {short} --list"))
            .into()
    })
}

pub async fn list_kinds(windlass: &Windlass, tasks: &[TaskId], output: Output) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    for task in tasks {
        let hearer = hearer(windlass, *task).await?;
        if output.json {
            for descriptor in hearer.registry() {
                let mut object = json!(descriptor);
                if let Value::Object(fields) = &mut object {
                    fields.insert("type".to_owned(), "message".into());
                    fields.insert("task_id".to_owned(), json!(task));
                }
                sheet.object(&object);
            }
            continue;
        }
        sheet.print(&Line::new().dim(format!("task {}", task.short())));
        for kind in MessageKind::ALL {
            let name = format!("{:<12}", kind.as_str());
            sheet.print_whole(&match hearer.delivery(kind) {
                Ok(mode) => {
                    Line::marked(Style::Plain, &name).plain(word(&mode).replace('_', " ")).behind(Style::Good, "✔ ")
                }
                Err(why) => Line::marked(Style::Dim, &name).dim(why.to_string()).behind(Style::Dim, "· "),
            });
        }
    }
    if output.json {
        sheet.object(&json!({"type": "result", "tasks": tasks}));
    }
    Ok(sheet)
}

/// Who would hear it, as far as can be known from outside.
async fn hearer(windlass: &Windlass, task: TaskId) -> anyhow::Result<Hearer> {
    let engine = &windlass.engine;
    let state = engine.task(task).await.map_err(explain)?;
    let agent = state.created.as_ref().and_then(|created| windlass.catalogue.find(&created.agent_id));
    let mut carrier = if agent.is_some() { Carrier::Foreign } else { Carrier::Native };
    let can_be_steered = agent.is_some_and(|adapter| adapter.agent().can_be_steered);
    // Between two attempts nobody works, and the next one hears it.
    let lifecycle = match state.attempts.last() {
        _ if state.is_over() => Lifecycle::Completed,
        Some(attempt) if attempt.ended.is_none() => {
            let mut folded = ExecutionState::default();
            for record in engine.execution_story(attempt.execution_id).await.map_err(explain)? {
                if let JournalRecord::Execution { at, execution, event, .. } = &record
                    && *execution == attempt.execution_id
                {
                    folded.apply(event, *at);
                }
            }
            // Who keeps the conversation stands in the journal, whether that agent is still known or not.
            carrier = folded.header.as_ref().map_or(carrier, |header| header.carrier);
            folded.lifecycle
        }
        Some(_) | None => Lifecycle::Created,
    };
    let was_left = matches!(lifecycle, Lifecycle::Launching | Lifecycle::Running) && !is_driven(windlass, task).await?;
    let answered_by = match state.created.as_ref().map(|created| &created.model) {
        Some(ModelChoice::Rehearsal { .. }) => AnsweredBy::Script,
        _ => AnsweredBy::Model,
    };
    let lifecycle = if was_left { Lifecycle::Lost } else { lifecycle };
    Ok(Hearer { carrier, can_be_steered, lifecycle, answered_by })
}
