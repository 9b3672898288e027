//! Works on a task in the foreground: shows what happens, asks a person at the terminal what must be asked, pauses on Ctrl-C,
//! and ends with the task's own exit code.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::approval::Rejected;
use windlass_domain::{Awaited, ErrorCode, ErrorDetails, QuestionAsked, Stop, TaskId, TaskResultStatus};
use windlass_engine::{Driven, Error, Following, Watcher};
use windlass_policy::visible_line;

use super::ask::{Asking, Open, ask, oldest, put};
use super::family::{Family, Live};
use super::on_screen::{may_be_on_screen, work_on_screen};
use super::planned_task;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{Hush, Teller, output};
use crate::stands::{InWords as _, Stands};
use crate::wiring::Windlass;

const TICK: Duration = Duration::from_millis(150);
/// For the last words of somebody who leaves at once.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Of each, where several are listed.
const MOST_QUESTION_CHARS: usize = 200;

/// What is told before the work begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The task as it was taken in.
    Taken,
    /// All that has happened to it.
    SoFar,
}

pub async fn drive(windlass: &Windlass, task: TaskId, teller: Arc<dyn Teller>, before: Before) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::new()?;
    let worked = match may_be_on_screen(windlass, task, teller.as_ref()).await? {
        true => Box::pin(work_on_screen(windlass, task, &teller, before, interrupts)).await,
        false => Box::pin(work(windlass, task, &teller, before, interrupts)).await,
    };
    settle(windlass, task, teller.as_ref(), worked).await
}

/// What is left to do when a task was worked on here, however that went.
pub(super) async fn settle(
    windlass: &Windlass,
    task: TaskId,
    teller: &dyn Teller,
    worked: Result<Exit, Error>,
) -> anyhow::Result<Exit> {
    windlass.observing.flush().await;
    match worked {
        Ok(exit) => {
            windlass.engine.close().await?;
            Ok(exit)
        }
        Err(error) => {
            let code = match error {
                Error::LeaseLost(_) | Error::HeldElsewhere { .. } => ErrorCode::Interrupted,
                _ => ErrorCode::Internal,
            };
            cut_off(windlass, task, teller, ErrorDetails::new(code, error.to_string())).await;
            Err(explain(error))
        }
    }
}

pub(super) async fn work(
    windlass: &Windlass,
    task: TaskId,
    teller: &Arc<dyn Teller>,
    before: Before,
    mut interrupts: Interrupts,
) -> Result<Exit, Error> {
    let mut following = Following::task(task);
    let story = windlass.engine.news(&mut following).await?;
    match before {
        Before::Taken => teller.begin(&story),
        Before::SoFar => teller.so_far(&story),
    }
    let is_planned = windlass.engine.task(task).await?.created.is_some_and(|created| created.planned);
    let mut family = is_planned.then(|| Family::new(windlass, following));
    let (mut has_asked, mut looked_in_vain) = (false, false);
    loop {
        let once = drive_once(windlass, task, teller, &mut family, &mut interrupts).await;
        teller.seen().await;
        let Once { driven, asked } = match once {
            // Nobody worked on it while it was asked about here, so that a worker was free to take it.
            Err(Error::HeldElsewhere { pid, .. }) if has_asked => {
                teller.remark(&format!("process {pid} goes on with it; to watch it: windlass log {}", task.short()));
                return Ok(Exit::BlockedOnUser);
            }
            Err(error) => return Err(error),
            Ok(None) => return Ok(Exit::Paused),
            Ok(Some(once)) => once,
        };
        let is_waiting = matches!(driven, Driven::Waiting(_));
        if is_waiting && windlass.engine.graph(task).await?.is_aligned() {
            teller.remark("it is agreed on");
            return Ok(Exit::Completed);
        }
        if is_waiting && teller.can_ask() && asked != Some(Asking::Later) {
            has_asked = true;
            let asked = match asked {
                Some(asked) => asked,
                None => ask(windlass, task, &mut interrupts).await?,
            };
            match asked {
                Asking::Answered => continue,
                // Once: what still waits then cannot be answered here.
                Asking::NothingToAsk if !std::mem::replace(&mut looked_in_vain, true) => continue,
                Asking::NothingToAsk | Asking::Later => {}
            }
        }
        output().heed(interrupts);
        teller.end(driven.result());
        match &driven {
            Driven::Finished(_) => {
                let bound = planned_task::bound(&windlass.engine, task).await?;
                bound.iter().for_each(|bound| teller.remark(&bound.in_a_sentence()));
            }
            Driven::Paused(_) => {
                let is_stopped = windlass.engine.task(task).await?.is_stopped;
                let is_objective = windlass.engine.graph(task).await?.objective.is_some();
                let stands = if is_stopped { Stands::Stopped } else { Stands::Paused };
                stands.next(task, is_objective).iter().for_each(|next| teller.remark(next));
                if is_stopped {
                    return Ok(Exit::Stopped);
                }
            }
            Driven::Waiting(_) => teller.remark(&how_to_answer(windlass, task).await?),
        }
        return Ok(Exit::from(driven.result().status));
    }
}

/// How driving came to rest, and what became of the question that was open at that moment.
struct Once {
    driven: Driven,
    asked: Option<Asking>,
}

/// None: whoever watches has left at once, and was told how the task stands.
async fn drive_once(
    windlass: &Windlass,
    task: TaskId,
    teller: &Arc<dyn Teller>,
    family: &mut Option<Family>,
    interrupts: &mut Interrupts,
) -> Result<Option<Once>, Error> {
    let mut stops = 0;
    let mut later = Vec::new();
    let begun = windlass.runtime.now();
    let watcher: Arc<dyn Watcher> = match family {
        Some(_) => Arc::new(Live(Arc::clone(teller))),
        None => Arc::clone(teller) as Arc<dyn Watcher>,
    };
    let mut driving: Driving<'_> = Box::pin(windlass.engine.drive(task, windlass.observing.watch(task, watcher)));
    loop {
        tokio::select! {
            driven = &mut driving => {
                tell_news(windlass, family, teller).await?;
                return driven.map(|driven| Some(Once { driven, asked: None }));
            }
            () = changed(family) => {
                tell_news(windlass, family, teller).await?;
                let open = if teller.can_ask() { oldest(windlass, task, &later).await? } else { None };
                let Some(open) = open else { continue };
                let (driven, asked) =
                    Box::pin(put_beside(windlass, &open, teller.as_ref(), &mut driving, interrupts)).await?;
                if asked == Asking::Later {
                    later.push(open.about());
                }
                if let Some(driven) = driven {
                    tell_news(windlass, family, teller).await?;
                    return Ok(Some(Once { driven, asked: Some(asked) }));
                }
            }
            () = interrupts.next() => {
                stops += 1;
                if stops > 1 {
                    output().set_patience(AT_ONCE);
                    // The journal has what happened; `resume` goes on from it as after any crash.
                    let state = windlass.engine.task(task).await?;
                    state.report(TaskResultStatus::Paused, false, None).iter().for_each(|result| teller.end(result));
                    return Ok(None);
                }
                teller.remark("pausing; again to leave at once");
                windlass.engine.stop(task, Stop::Pause);
            }
            () = windlass.runtime.sleep(TICK) => {
                teller.tick(windlass.runtime.now() - begun);
                if output().is_overrun() {
                    windlass.engine.stop(task, Stop::Pause);
                }
            }
        }
    }
}

type Driving<'a> = Pin<Box<dyn Future<Output = Result<Driven, Error>> + Send + 'a>>;

/// Asks while the others go on. What they do meanwhile is told when the question is settled.
async fn put_beside(
    windlass: &Windlass,
    open: &Open,
    teller: &dyn Teller,
    driving: &mut Driving<'_>,
    interrupts: &mut Interrupts,
) -> Result<(Option<Driven>, Asking), Error> {
    teller.hush(Hush::WhileAsked);
    let mut asking = pin!(put(windlass, open, interrupts));
    let mut driven = None;
    let asked = loop {
        tokio::select! {
            ended = &mut *driving, if driven.is_none() => driven = Some(ended?),
            asked = &mut asking => break asked?,
        }
    };
    teller.hush(Hush::Over);
    Ok((driven, asked))
}

async fn changed(family: &mut Option<Family>) {
    match family {
        Some(family) => family.changed().await,
        None => std::future::pending().await,
    }
}

async fn tell_news(windlass: &Windlass, family: &mut Option<Family>, teller: &Arc<dyn Teller>) -> Result<(), Error> {
    match family {
        Some(family) => family.tell_news(windlass, teller.as_ref()).await,
        None => Ok(()),
    }
}

/// What to type about the first thing that a task waits for.
pub(super) async fn how_to_answer(windlass: &Windlass, task: TaskId) -> Result<String, Error> {
    let short = task.short();
    let answer = match windlass.engine.asks(task).await?.first() {
        Some((_, Awaited::Card(card))) => format!("windlass approve {}, or deny, or edit", card.short()),
        Some((asker, Awaited::Question(_) | Awaited::Research(_) | Awaited::Monitor(_))) => {
            format!("windlass send {} \"…\"", asker.short())
        }
        None => format!("windlass send {short} \"…\""),
    };
    Ok(format!("to see it whole: windlass inbox; to answer: {answer}; then: windlass resume {short}"))
}

/// Tells how the task stands that this process can do no more for: paused, unless it has ended.
async fn cut_off(windlass: &Windlass, task: TaskId, teller: &dyn Teller, error: ErrorDetails) {
    let state = windlass.engine.task(task).await.ok();
    let stands = state.and_then(|state| {
        let paused = || state.report(TaskResultStatus::Paused, false, Some(error.clone()));
        state.result.clone().or_else(paused)
    });
    teller.cut_off(task, stands.as_ref(), &error);
}

/// A line for each: its id, and how it begins. They are an agent's words.
fn in_lines(open: &[QuestionAsked]) -> String {
    let line = |asked: &QuestionAsked| {
        let question: String = visible_line(&asked.asked.question).chars().take(MOST_QUESTION_CHARS).collect();
        format!("  {}  {question}", asked.request_id.short())
    };
    open.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The user's mistakes apart from ours.
pub fn explain(error: Error) -> anyhow::Error {
    match &error {
        Error::HeldElsewhere { task, .. } => WrongUse::new(error.to_string())
            .hint(format!("watch it with `windlass log {0}`, or stop it with `windlass stop {0}`", task.short()))
            .into(),
        Error::Card(Rejected::NotRequested) => {
            WrongUse::new(error.to_string()).hint("`windlass inbox` shows the cards").into()
        }
        Error::Card(Rejected::NeedsSecondStep) => WrongUse::new(error.to_string())
            .hint("look at it with `windlass inbox`; --yes is the second step where there is no terminal")
            .into(),
        Error::Card(_) => WrongUse::new(error.to_string()).into(),
        Error::NoSuchQuestion { .. } => {
            WrongUse::new(error.to_string()).hint("`windlass inbox` shows the questions").into()
        }
        Error::SeveralQuestions { task, open } => WrongUse::new(format!("{error}:\n{}", in_lines(open)))
            .hint(format!("name it: windlass send {} \"…\" --question ID", task.short()))
            .into(),
        Error::NoSuchExecution(_) => {
            WrongUse::new(error.to_string()).hint("`windlass log --timeline` shows the executions of a task").into()
        }
        Error::CannotFork { .. } => WrongUse::new(error.to_string()).into(),
        Error::EmptyMessage => WrongUse::new(error.to_string()).hint("say something between the quotes").into(),
        Error::MessageTooLong { .. } => WrongUse::new(error.to_string()).into(),
        Error::SecretInCheck
        | Error::LateDeadline(_)
        | Error::Monitor(_)
        | Error::NothingToMonitor(_)
        | Error::Compaction(_)
        | Error::GoalKnown(_)
        | Error::GoalElsewhere(_)
        | Error::Elsewhere { .. }
        | Error::NoSuchGoal(_)
        | Error::Goal(_) => WrongUse::new(error.to_string()).into(),
        Error::NotAGoal(_) => WrongUse::new(error.to_string()).hint("docs/goals.md shows one").into(),
        Error::NoEarlierPlan(_) | Error::NotAligned(_) | Error::CannotCorrect(_) => {
            WrongUse::new(error.to_string()).into()
        }
        Error::UnfitPlan(reasons) => WrongUse::new(reasons.join("\n"))
            .hint("docs/plans.md has every field, and `windlass skills list` every skill")
            .into(),
        Error::TooLate(_) => {
            WrongUse::new(error.to_string()).hint("say it to a new run, or once this one tries again").into()
        }
        Error::Over(_) | Error::NoSuchTask(_) | Error::OfNoTask(_) => {
            WrongUse::new(error.to_string()).hint("`windlass status` lists the tasks").into()
        }
        _ => error.into(),
    }
}
