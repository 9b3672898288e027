//! `windlass audit show | verify`: what was allowed, refused and handed over (seed 001 §2.5), and the proof that nobody changed
//! it. What an event quotes may be anybody's words, and is shown so that it cannot pass for ours.

use serde_json::{Value, json};
use windlass_domain::{TaskId, Tenant};
use windlass_engine::{AuditRecord, Audited, Engine};
use windlass_store::queue::{AuditType, RuntimeAuditEvent};
use windlass_store::{ChainHead, Position, chain::Break};

use super::find::find;
use crate::arguments::{Audit, AuditShow, AuditTypeName};
use crate::config::Config;
use crate::exit::Exit;
use crate::heads::{BadHeads, KeptHeads};
use crate::show::{Line, Screen, Style, print_json, word};
use crate::wiring::Windlass;

pub async fn audit(arguments: Audit) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    match arguments {
        Audit::Show(show) => self::show(&windlass.engine, show).await,
        Audit::Verify(output) => {
            let finding = verify(&windlass).await?;
            let exit = if finding.is_intact { Exit::Completed } else { Exit::Failed };
            finding.tell(output.json);
            Ok(exit)
        }
    }
}

async fn show(engine: &Engine, arguments: AuditShow) -> anyhow::Result<Exit> {
    let task = match &arguments.task {
        Some(named) => Some(find(engine, named).await?),
        None => None,
    };
    let types: Vec<AuditType> = arguments.types.iter().map(|name| (*name).into()).collect();
    let wanted = |record: &&AuditRecord| {
        (types.is_empty() || types.contains(&record.event.event_type)) && task.is_none_or(|task| is_about(record, task))
    };
    let (mut screen, mut shown) = (Screen::new(), 0_u64);
    let mut after = Some(Position(0));
    while let Some(position) = after {
        let page = engine.audit(position).await?;
        for record in page.records.iter().filter(wanted) {
            shown += 1;
            match arguments.output.json {
                true => print_json(&as_json(record)),
                false => screen.print_whole(&row(record)),
            }
        }
        after = page.next;
    }
    match (arguments.output.json, shown) {
        (true, _) => print_json(&json!({"type": "result", "events": shown})),
        (false, 0) => screen.print(&Line::new().plain("No such events.")),
        (false, _) => {}
    }
    Ok(Exit::Completed)
}

fn is_about(AuditRecord { event, .. }: &AuditRecord, task: TaskId) -> bool {
    let task = task.to_string();
    ["task_id", "work_item_id"].iter().any(|name| event.details.get(*name).and_then(Value::as_str) == Some(&*task))
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

/// What the verification came to.
struct Finding {
    is_intact: bool,
    what: String,
    notes: Vec<String>,
    /// Where the first thing is wrong.
    position: Option<Position>,
    counted: Value,
}

impl Finding {
    fn broken(what: impl Into<String>, position: Option<Position>) -> Self {
        Self { is_intact: false, what: what.into(), notes: Vec::new(), position, counted: json!({}) }
    }

    fn tell(self, json: bool) {
        let Self { is_intact, what, notes, position, mut counted } = self;
        if json {
            counted["type"] = json!("result");
            counted["intact"] = json!(is_intact);
            counted["finding"] = json!(what);
            counted["notes"] = json!(notes);
            counted["position"] = json!(position.map(|position| position.0));
            return print_json(&counted);
        }
        let (style, mark) = if is_intact { (Style::Good, "✔ ") } else { (Style::Bad, "✘ ") };
        let mut screen = Screen::new();
        screen.print_whole(&Line::marked(style, mark).plain(what));
        notes.iter().for_each(|note| screen.print_whole(&Line::marked(Style::Dim, "· ").dim(note)));
    }
}

async fn verify(windlass: &Windlass) -> anyhow::Result<Finding> {
    let tenant = Tenant::local();
    let KeptHeads { heads, torn } = match windlass.heads.read(&tenant) {
        Ok(kept) => kept,
        Err(bad @ BadHeads::Line { .. }) => {
            return Ok(Finding::broken(format!("the signed heads were changed: {bad}"), None));
        }
        Err(bad) => return Ok(Finding::broken(format!("the signed heads cannot be used: {bad}"), None)),
    };
    let (events, unsealed, sealed) = match windlass.engine.verify_audit(&heads).await? {
        Audited::Intact { events, unsealed, sealed } => (events, unsealed, sealed),
        Audited::Broken(broken) => return Ok(describe(&broken, &heads)),
        Audited::NotAsSigned { at } => {
            let what = format!("the history up to event {} is not the one that was signed", at.0);
            return Ok(Finding::broken(what, Some(at)));
        }
    };
    // Read again: somebody may have sealed meanwhile.
    let again = windlass.heads.read(&tenant).map(|kept| kept.heads).unwrap_or_default();
    if let Some(at) = sealed.filter(|at| again.iter().all(|head| head.position < *at)) {
        return Ok(missing_head(windlass, &tenant, at));
    }
    let mut notes = Vec::new();
    if torn {
        notes.push(
            "the last line of the signed heads was cut short, as by a crash; the next one takes its place".to_owned(),
        );
    }
    if unsealed > 0 {
        notes.push(format!("the last {unsealed} events are not sealed yet; that they are all is not proved"));
    }
    Ok(Finding {
        is_intact: true,
        what: format!("intact: {events} events, {} signed heads", heads.len()),
        notes,
        position: None,
        counted: json!({"events": events, "heads": heads.len(), "unsealed": unsealed}),
    })
}

fn missing_head(windlass: &Windlass, tenant: &Tenant, at: Position) -> Finding {
    let path = windlass.heads.path(tenant);
    let what = format!("the signed heads end too early: {} lacks the head of event {}", path.display(), at.0);
    let mut finding = Finding::broken(what, Some(at));
    finding.notes.push(
        "a process that was killed between sealing and signing leaves the same; the next run then signs again"
            .to_owned(),
    );
    finding
}

fn describe(broken: &Break, heads: &[ChainHead]) -> Finding {
    match broken {
        Break::Edited { at } => Finding::broken(
            format!("event {}, or one committed with it or before it, was changed, put in or taken out", at.0),
            Some(*at),
        ),
        Break::Gap { before, stream } => Finding::broken(
            format!("events are missing before event {}: {} does not go on where it stood", before.0, stream.as_str()),
            Some(*before),
        ),
        Break::Truncated { after } => {
            let known = heads.iter().map(|head| head.position.0).max();
            let known = known.map(|known| format!("; a signed head is known up to event {known}")).unwrap_or_default();
            Finding::broken(
                format!("the end is missing: nothing is there after event {}{known}", after.0),
                Some(*after),
            )
        }
    }
}
