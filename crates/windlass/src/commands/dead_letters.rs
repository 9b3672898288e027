//! `windlass dead-letters`: messages that no consumer takes any more, with the reason. A person reads them, puts them back
//! into their queue, or drops them; both are in the audit.

use serde_json::{Value, json};
use windlass_domain::MessageId;
use windlass_store::queue::{Error as QueueError, drop_letter, retry};
use windlass_store::{Error as StoreError, Standing, StoredMessage};

use super::find::pick;
use crate::arguments::{DeadLetter, DeadLetterAction, Output};
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style, quoted};
use crate::wiring::Windlass;

const PAGE: usize = 1_000;
const LIST: &str = "`windlass dead-letters` lists them";

pub async fn dead_letters(windlass: &Windlass, action: DeadLetterAction) -> anyhow::Result<Sheet> {
    match action {
        DeadLetterAction::List(output) => list(windlass, output).await,
        DeadLetterAction::Show(DeadLetter { id, output }) => Ok(show(&find(windlass, &id).await?, output)),
        DeadLetterAction::Retry(letter) => decide(windlass, letter, Fate::Retried).await,
        DeadLetterAction::Drop(letter) => decide(windlass, letter, Fate::Dropped).await,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Retried,
    Dropped,
}

async fn list(windlass: &Windlass, output: Output) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let (mut before, mut count) = (None, 0_usize);
    loop {
        let page = windlass.store.dead_letters(&windlass.tenant, before, PAGE).await?;
        for letter in &page {
            match output.json {
                true => sheet.object(&as_json(letter)),
                false => sheet.print(&row(letter)),
            }
        }
        count += page.len();
        before = page.last().map(|letter| letter.message_id);
        if page.len() < PAGE {
            break;
        }
    }
    match (output.json, count) {
        (true, _) => sheet.object(&json!({"type": "result", "dead_letters": count})),
        (false, 0) => sheet.print(&Line::new().plain("No dead letters.")),
        (false, _) => {}
    }
    Ok(sheet)
}

fn row(letter: &StoredMessage) -> Line {
    let (reason, _) = death(letter);
    Line::new()
        .dim(format!("{}  ", letter.message_id.short()))
        .plain(format!("{}  {}  ", letter.queue, letter.kind))
        .dim(format!("{} deliveries  ", letter.deliveries))
        .giving_way(Style::Warn, reason)
}

/// Why and when it died.
fn death(letter: &StoredMessage) -> (&str, String) {
    match &letter.standing {
        Standing::Dead { reason, at } => (reason, at.to_rfc3339()),
        Standing::Ready | Standing::Delayed { .. } | Standing::Leased { .. } => ("", String::new()),
    }
}

fn show(letter: &StoredMessage, output: Output) -> Sheet {
    let mut sheet = Sheet::new();
    if output.json {
        let mut fields = as_json(letter);
        fields["type"] = json!("result");
        sheet.object(&fields);
        return sheet;
    }
    let (reason, at) = death(letter);
    let facts = [
        ("message", letter.message_id.to_string()),
        ("queue", letter.queue.clone()),
        ("kind", letter.kind.clone()),
        ("trace", letter.trace_id.to_string()),
        ("taint", letter.taint.as_str().to_owned()),
        ("enqueued", letter.enqueued_at.to_rfc3339()),
        ("deliveries", letter.deliveries.to_string()),
        ("died", at),
        ("reason", reason.to_owned()),
    ];
    for (name, value) in facts {
        sheet.print_whole(&Line::marked(Style::Dim, &format!("{name:<12}")).plain(value));
    }
    let data = parsed(letter);
    let content = serde_json::to_string_pretty(&data).unwrap_or_else(|_| letter.data.clone());
    quoted(&content).for_each(|line| sheet.print_whole(&line));
    sheet
}

fn parsed(letter: &StoredMessage) -> Value {
    serde_json::from_str(&letter.data).unwrap_or_else(|_| json!(letter.data))
}

fn as_json(letter: &StoredMessage) -> Value {
    let (reason, died_at) = death(letter);
    json!({
        "type": "dead_letter",
        "message_id": letter.message_id,
        "queue": letter.queue,
        "kind": letter.kind,
        "version": letter.version,
        "trace_id": letter.trace_id,
        "taint": letter.taint,
        "enqueued_at": letter.enqueued_at.to_rfc3339(),
        "deliveries": letter.deliveries,
        "died_at": died_at,
        "reason": reason,
        "data": parsed(letter),
    })
}

async fn decide(windlass: &Windlass, DeadLetter { id, output }: DeadLetter, fate: Fate) -> anyhow::Result<Sheet> {
    let (store, tenant) = (windlass.store.as_ref(), &windlass.tenant);
    let letter = find(windlass, &id).await?;
    let (message, now) = (letter.message_id, windlass.runtime.wall());
    let decided = match fate {
        Fate::Retried => retry(store, tenant, message, now).await,
        Fate::Dropped => drop_letter(store, tenant, message, now).await,
    };
    match decided {
        Ok(()) => {}
        // Somebody else was quicker.
        Err(QueueError::Store(StoreError::Gone { .. })) => return Err(unknown(&id).into()),
        Err(error) => return Err(error.into()),
    }
    let mut sheet = Sheet::new();
    let word = match fate {
        Fate::Retried => "retried",
        Fate::Dropped => "dropped",
    };
    match output.json {
        true => {
            sheet.object(&json!({"type": "result", "message_id": message, "decision": word, "queue": letter.queue}));
        }
        false => {
            let what = format!("{word}: message {} of {}", message.short(), letter.queue);
            sheet.print(&Line::new().plain(what));
        }
    }
    Ok(sheet)
}

async fn find(windlass: &Windlass, named: &str) -> anyhow::Result<StoredMessage> {
    let (store, tenant) = (windlass.store.as_ref(), &windlass.tenant);
    let id = match named.parse::<MessageId>() {
        Ok(id) => id,
        Err(_) => {
            let letters = store.dead_letters(tenant, None, PAGE).await?;
            pick(letters.iter().map(|letter| (letter.message_id, letter.message_id.short())), named)
                .map_err(|problem| problem.explain("dead letter", named, LIST))?
        }
    };
    let letter = store.message(tenant, id).await?;
    let letter = letter.filter(|letter| matches!(letter.standing, Standing::Dead { .. }));
    letter.ok_or_else(|| unknown(named).into())
}

fn unknown(named: &str) -> WrongUse {
    WrongUse::new(format!("there is no dead letter `{named}` here")).hint(LIST)
}
