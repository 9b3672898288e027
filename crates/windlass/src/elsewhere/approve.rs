//! `windlass approve` of a card that a server has. At a terminal the card is shown first, and what is risky is asked about twice.

use super::ask::Open;
use super::far::{Far, explained};
use crate::arguments;
use crate::commands::{Errand, one_line, tell};
use crate::exit::Exit;
use crate::keyboard::Keyboard;

pub async fn approve(far: &Far, mut arguments: arguments::Approve) -> anyhow::Result<Exit> {
    let by_hand = if arguments.output.json || arguments.yes { None } else { Keyboard::look() };
    if let Some(keyboard) = by_hand {
        let (shown, open) = far.shown_with(Errand::Card(arguments.card.clone())).await.map_err(explained)?;
        shown.show();
        if let Some(Open::Card { short, wants_second_step: true, .. }) = open {
            let question = format!("do you mean it? type {short} or yes:");
            let line = one_line(far.runtime.as_ref(), keyboard, &question).await?;
            if line.is_none_or(|line| line != "yes" && line != short) {
                tell("not approved");
                return Ok(Exit::BlockedOnUser);
            }
            arguments.yes = true;
        }
    }
    far.errand(Errand::Approve(arguments)).await
}
