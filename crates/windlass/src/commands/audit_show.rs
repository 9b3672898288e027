//! `windlass audit show`: what was allowed, refused and handed over (seed 001 §2.5). What an event quotes may be anybody's
//! words, and is shown so that it cannot pass for ours.

use serde_json::{Value, json};
use windlass_domain::TaskId;
use windlass_engine::AuditRecord;
use windlass_store::Position;
use windlass_store::queue::{AuditType, RuntimeAuditEvent};

use super::find::find;
use crate::arguments::{AuditShow, AuditTypeName};
use crate::show::{Line, Sheet, Style, word};
use crate::wiring::Windlass;

pub async fn audit_show(windlass: &Windlass, arguments: &AuditShow) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => Some(find(engine, named).await?),
        None => None,
    };
    let types: Vec<AuditType> = arguments.types.iter().map(|name| (*name).into()).collect();
    let wanted = |record: &&AuditRecord| {
        (types.is_empty() || types.contains(&record.event.event_type)) && task.is_none_or(|task| is_about(record, task))
    };
    let (mut sheet, mut shown) = (Sheet::new(), 0_u64);
    let mut after = Some(Position(0));
    while let Some(position) = after {
        let page = engine.audit(position).await?;
        for record in page.records.iter().filter(wanted) {
            shown += 1;
            match arguments.output.json {
                true => sheet.object(&as_json(record)),
                false => sheet.print_whole(&row(record)),
            }
        }
        after = page.next;
    }
    match (arguments.output.json, shown) {
        (true, _) => sheet.object(&json!({"type": "result", "events": shown})),
        (false, 0) => sheet.print(&Line::new().plain("No such events.")),
        (false, _) => {}
    }
    Ok(sheet)
}

/// Everything that follows from a task has the task's own number as its trace.
fn is_about(AuditRecord { event, .. }: &AuditRecord, task: TaskId) -> bool {
    event.trace_id.to_string() == task.to_string()
}

fn row(AuditRecord { taint, event, .. }: &AuditRecord) -> Line {
    let RuntimeAuditEvent { event_type, actor, decision, reason, details, created_at, .. } = event;
    let style = match (event_type, decision.as_deref()) {
        (AuditType::GateBlock, _) | (_, Some("refused" | "declined" | "denied")) => Style::Warn,
        _ => Style::Plain,
    };
    let mut line = Line::new()
        .dim(format!("{}  ", created_at.to_rfc3339()))
        .add(style, format!("{:<10}  ", word(event_type)))
        .plain(format!("{:<19}  ", word(actor)))
        .dim(format!("{:<8}  ", taint.as_str()));
    line = decision.iter().fold(line, |line, decision| line.add(style, decision).plain("  "));
    line = reason.iter().fold(line, |line, reason| line.plain(reason).plain("  "));
    details.iter().fold(line, |line, (name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        line.dim(format!("{name}={value} "))
    })
}

/// As it is stored.
fn as_json(AuditRecord { position, taint, event }: &AuditRecord) -> Value {
    let mut fields = json!(event);
    fields["type"] = json!("audit");
    fields["position"] = json!(position.0);
    fields["taint"] = json!(taint);
    fields["created_at"] = json!(event.created_at.to_rfc3339());
    fields
}

impl From<AuditTypeName> for AuditType {
    fn from(name: AuditTypeName) -> Self {
        match name {
            AuditTypeName::Enqueue => Self::Enqueue,
            AuditTypeName::Dequeue => Self::Dequeue,
            AuditTypeName::Approval => Self::Approval,
            AuditTypeName::Verify => Self::Verify,
            AuditTypeName::Check => Self::Check,
            AuditTypeName::GateBlock => Self::GateBlock,
        }
    }
}
