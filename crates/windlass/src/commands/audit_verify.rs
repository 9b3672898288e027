//! `windlass audit verify`: the tenant's chain against the signed heads that are kept outside the database. What is wrong is
//! said once, the first thing first; what is merely not proved yet is a note.

use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::Tenant;
use windlass_engine::{Audited, Engine};
use windlass_store::chain::Break;
use windlass_store::{ChainHead, Position};

use crate::arguments::Output;
use crate::exit::Exit;
use crate::heads::{BadHeads, FileHeads, KeptHeads};
use crate::show::{Line, Sheet, Style};
use crate::wiring::Windlass;

pub async fn audit_verify(windlass: &Windlass, output: Output) -> anyhow::Result<Sheet> {
    let finding = verify(&windlass.engine, &windlass.heads, &windlass.tenant).await?;
    let exit = if finding.is_intact { Exit::Completed } else { Exit::Failed };
    Ok(finding.told(output.json).ending(exit))
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

    fn told(self, json: bool) -> Sheet {
        let mut sheet = Sheet::new();
        let Self { is_intact, what, notes, position, mut counted } = self;
        if json {
            counted["type"] = json!("result");
            counted["intact"] = json!(is_intact);
            counted["finding"] = json!(what);
            counted["notes"] = json!(notes);
            counted["position"] = json!(position.map(|position| position.0));
            sheet.object(&counted);
            return sheet;
        }
        let (style, mark) = if is_intact { (Style::Good, "✔ ") } else { (Style::Bad, "✘ ") };
        sheet.print_whole(&Line::marked(style, mark).plain(what));
        notes.iter().for_each(|note| sheet.print_whole(&Line::marked(Style::Dim, "· ").dim(note)));
        sheet
    }
}

/// Whether it is intact, how many events there are, and what was found.
pub(super) async fn verified(
    engine: &Engine,
    kept: &FileHeads,
    tenant: &Tenant,
) -> anyhow::Result<(bool, u64, String)> {
    let Finding { is_intact, what, counted, .. } = verify(engine, kept, tenant).await?;
    Ok((is_intact, counted["events"].as_u64().unwrap_or(0), what))
}

async fn verify(engine: &Engine, kept: &FileHeads, tenant: &Tenant) -> anyhow::Result<Finding> {
    let KeptHeads { heads, torn } = match kept.read(tenant) {
        Ok(kept) => kept,
        Err(bad @ BadHeads::Line { .. }) => {
            return Ok(Finding::broken(format!("the signed heads were changed: {bad}"), None));
        }
        Err(bad) => return Ok(Finding::broken(format!("the signed heads cannot be used: {bad}"), None)),
    };
    let (events, unsealed, sealed) = match engine.verify_audit(&heads).await? {
        Audited::Intact { events, unsealed, sealed } => (events, unsealed, sealed),
        Audited::Broken(broken) => return Ok(describe(&broken, &heads)),
        Audited::NotAsSigned { at } => {
            let what = format!("the history up to event {} is not the one that was signed", at.0);
            return Ok(Finding::broken(what, Some(at)));
        }
    };
    // Read again: somebody may have sealed meanwhile.
    let again = kept.read(tenant).map(|kept| kept.heads).unwrap_or_default();
    if let Some(at) = sealed.filter(|at| again.iter().all(|head| head.position < *at)) {
        return Ok(missing_head(&kept.path(tenant), at));
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

fn missing_head(path: &Path, at: Position) -> Finding {
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
