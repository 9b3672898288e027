//! `windlass redirect` of an objective that a server has: with flags or in words. A planner of the server's looks what words mean, while this
//! program waits; Ctrl-C sends it away.

use std::time::Duration;

use windlass_domain::TaskId;

use super::far::{Far, explained};
use crate::arguments::{Output, Redirect};
use crate::commands::{
    ChangeAsked, ChangeShown, Errand, Fares, MEANT, RedirectStep, Redirecting, THINKS, apart, cannot_go_on, is_meant,
    left, sayable, tell,
};
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;

const LOOK_EVERY: Duration = Duration::from_millis(500);

pub async fn redirect(far: &Far, arguments: Redirect) -> anyhow::Result<Exit> {
    let (wanted, (named, words)) = (sayable(&arguments)?, apart(&arguments));
    let planner = match words {
        Some(words) => {
            let ask = RedirectStep::Ask { named: named.map(str::to_owned), words: words.to_owned() };
            match think(far, ask, arguments.output).await? {
                Thought::Over(planner) => Some(planner),
                Thought::Left(task) => return Ok(left(task, arguments.output)),
            }
        }
        None if wanted.is_empty() => {
            let mistake = WrongUse::new("what is to be different is not asked about from elsewhere");
            return Err(mistake.hint("say it in words, or with flags: windlass redirect --help").into());
        }
        None => None,
    };
    let mut asked = Redirecting { arguments, planner, seen: None };
    let show = Errand::Redirect(RedirectStep::Show(Box::new(asked.clone())));
    let (shown, told) = far.shown_with::<ChangeShown>(show).await.map_err(explained)?;
    let Some(ChangeShown { task, seen }) = told else {
        return Err(explained(far.another_version("it does not say what would change")));
    };
    if !asked.arguments.output.json {
        shown.show();
    }
    if !asked.arguments.yes && !is_meant(far.runtime.as_ref(), MEANT).await? {
        return Ok(left(task, asked.arguments.output));
    }
    asked.seen = Some(seen);
    far.errand(Errand::Redirect(RedirectStep::Make(Box::new(asked)))).await
}

enum Thought {
    Over(TaskId),
    /// Whoever asked, about this task, does not want to know any more.
    Left(TaskId),
}

async fn think(far: &Far, ask: RedirectStep, output: Output) -> anyhow::Result<Thought> {
    let mut interrupts = Interrupts::new()?;
    let ChangeAsked { task, planner } = far.answer(Errand::Redirect(ask)).await.map_err(explained)?;
    if !output.json {
        tell(THINKS);
    }
    loop {
        let fares: Fares = far.answer(Errand::Redirect(RedirectStep::Planner(planner))).await.map_err(explained)?;
        if fares.is_over {
            return Ok(Thought::Over(planner));
        }
        if let Some(why) = fares.rests {
            leave(far, planner).await?;
            return Err(cannot_go_on(&why).into());
        }
        tokio::select! {
            () = far.runtime.sleep(LOOK_EVERY) => {}
            () = interrupts.next() => {
                leave(far, planner).await?;
                return Ok(Thought::Left(task));
            }
        }
    }
}

/// A planner that cannot go on now would be asked about something else when it can.
async fn leave(far: &Far, planner: TaskId) -> anyhow::Result<()> {
    far.asked(Errand::Redirect(RedirectStep::Leave(planner))).await.map(drop).map_err(explained)
}
