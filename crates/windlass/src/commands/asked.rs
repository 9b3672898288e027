//! What a person is asked, for whoever asks them at another machine: what is shown to them, and beside it what the program there must know
//! to take their answer.

use serde_json::{Value, json};
use windlass_domain::TaskId;
use windlass_domain::approval::Strength;
use windlass_engine::{Asked, OpenQuestion};

use super::ask::{Open, oldest};
use super::drive::explain;
use super::find::find_card;
use crate::show::{Line, Sheet, card, question};
use crate::wiring::Windlass;

/// The oldest thing that a task waits for.
pub async fn asked(windlass: &Windlass, task: TaskId) -> anyhow::Result<Sheet> {
    let now = windlass.runtime.wall();
    Ok(match oldest(windlass, task, &[]).await.map_err(explain)? {
        Some(Open::Card(asked)) => shown(&card(&asked, now), &of_card(&asked)),
        Some(Open::Question(open)) => shown(&question(&open, now), &of_question(&open)),
        None => Sheet::new(),
    })
}

/// A card that is open. Of one that cannot be answered any more nothing is shown: its own judgement says why.
pub async fn card_asked(windlass: &Windlass, named: &str) -> anyhow::Result<Sheet> {
    let id = find_card(&windlass.engine, named).await?;
    let open = windlass.engine.cards().await?.into_iter().find(|asked| asked.card.card_id == id);
    let now = windlass.runtime.wall();
    Ok(open.map_or_else(Sheet::new, |asked| shown(&card(&asked, now), &of_card(&asked))))
}

fn shown(lines: &[Line], known: &Value) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.print(&Line::new());
    lines.iter().for_each(|line| sheet.print_whole(line));
    sheet.print(&Line::new());
    sheet.object(known);
    sheet
}

fn of_card(asked: &Asked) -> Value {
    let card = &asked.card;
    json!({
        "about": "card",
        "id": card.card_id,
        "short": card.card_id.short(),
        "wants_second_step": card.risk_level.least_strength() >= Strength::Confirmed,
    })
}

fn of_question(open: &OpenQuestion) -> Value {
    let asked = &open.asked;
    json!({"about": "question", "id": asked.request_id, "task_id": asked.task_id, "options": asked.asked.options})
}
