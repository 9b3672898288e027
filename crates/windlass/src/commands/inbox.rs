//! `windlass inbox`: what agents ask for. One question at a time: the oldest whole, the others stacked below it.

use serde_json::{Value, json};
use windlass_engine::Asked;

use crate::arguments;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{Line, Screen, card, card_in_short, print_json};
use crate::wiring::Windlass;

pub async fn inbox(arguments: arguments::Inbox) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let now = windlass.runtime.wall();
    let cards = windlass.engine.cards().await?;
    if arguments.output.json {
        cards.iter().for_each(|asked| print_json(&as_json(asked)));
        print_json(&json!({"type": "result", "cards": cards.len()}));
        return Ok(Exit::Completed);
    }
    let mut screen = Screen::new();
    let Some((first, stacked)) = cards.split_first() else {
        screen.print(&Line::new().plain("Nobody asks you for anything."));
        return Ok(Exit::Completed);
    };
    card(first, now).iter().for_each(|line| screen.print_whole(line));
    let short = first.card.card_id.short();
    screen.print(&Line::new());
    screen.print_whole(&Line::new().dim(format!(
        "to answer: windlass approve {short} · windlass deny {short} · windlass edit {short} --note \"…\""
    )));
    if !stacked.is_empty() {
        screen.print(&Line::new());
        screen.print(&Line::new().dim(format!("and after it, {}:", stacked.len())));
    }
    stacked.iter().for_each(|asked| screen.print(&card_in_short(asked, now)));
    Ok(Exit::Completed)
}

/// The card as it is kept.
fn as_json(Asked { card, task, at }: &Asked) -> Value {
    let mut fields = json!(card);
    fields["type"] = json!("card");
    fields["task_id"] = json!(task);
    fields["asked_at"] = json!(at.to_rfc3339());
    fields["expires_at"] = json!(card.expires_at.to_rfc3339());
    fields
}
