//! `windlass start` of an objective that a server has: it is shown here, begun as it was seen, and followed.

use serde_json::Value;

use super::far::{Far, explained};
use super::follow::{Before, follow};
use crate::arguments;
use crate::commands::{BEGUN_BEFORE, Beginning, Errand, ToBegin, meant_with};
use crate::exit::Exit;
use crate::show::teller;

pub async fn start(far: &Far, arguments: arguments::Start) -> anyhow::Result<Exit> {
    let looked = Errand::ToBegin(arguments.task, arguments.deadline);
    let (shown, told) = far.shown_with::<ToBegin>(looked).await.map_err(explained)?;
    let Some(ToBegin { task, card, deadline }) = told else {
        return Err(explained(far.another_version("it does not say what is to begin")));
    };
    if !arguments.output.json {
        shown.show();
    }
    let Some(strength) = meant_with(far.runtime.as_ref(), card.as_ref(), arguments.yes).await? else {
        return Ok(Exit::Stopped);
    };
    let beginning = Beginning { task, shown: card, deadline, strength };
    let begun: Value = far.answer(Errand::Begin(Box::new(beginning))).await.map_err(explained)?;
    let teller = teller(arguments.output);
    if begun["before"] == true {
        teller.remark(BEGUN_BEFORE);
    }
    follow(far, task, &teller, Before::SoFar).await
}
