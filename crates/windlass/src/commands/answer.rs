//! `windlass approve | deny | edit CARD`: a person's answer. What is risky is approved in two steps: by hand at a terminal, or
//! with `--yes` where there is none.

use serde_json::json;
use windlass_domain::approval::{Answer, CardId, Strength, Verdict};
use windlass_domain::{Awaited, Taint, TaskId};
use windlass_engine::{Answered, Error};

use super::ask::confirm;
use super::dialogue::{Dialogue, Unanswered};
use super::drive::explain;
use super::find::{find_card, is_driven, whole};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::keyboard::Keyboard;
use crate::show::{Line, Sheet, Style, card as show_card};
use crate::wiring::Windlass;

/// What somebody answers.
pub struct Given {
    pub verdict: Verdict,
    pub approval_strength: Strength,
    pub conditions: Vec<String>,
    pub note: String,
}

impl Given {
    fn yes(conditions: Vec<String>, note: String) -> Self {
        let verdict = if conditions.is_empty() { Verdict::Approved } else { Verdict::Conditional };
        Self { verdict, approval_strength: Strength::Explicit, conditions, note }
    }
}

pub async fn approve(arguments: arguments::Approve) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::load()?).await?;
    let card = find_card(&windlass.engine, &arguments.card).await?;
    let by_hand = if arguments.output.json { None } else { Keyboard::look() };
    let approval_strength = match (arguments.yes, by_hand) {
        (true, _) => Strength::Confirmed,
        (false, None) => Strength::Explicit,
        (false, Some(keyboard)) => match second_step(&windlass, card, keyboard, &mut Interrupts::new()?).await {
            Ok(strength) => strength,
            Err(Unanswered::Failed(error)) => return Err(explain(error)),
            Err(Unanswered::Over | Unanswered::Leaves) => return Ok(Exit::BlockedOnUser),
        },
    };
    let given = Given { approval_strength, ..Given::yes(arguments.conditions, arguments.note) };
    let answered = answer(&windlass, card, given, arguments.output).await;
    // One that does not count is in the audit as well.
    windlass.engine.close().await?;
    Ok(answered?.show())
}

/// For somebody who is asked nothing more, here or elsewhere.
pub async fn approve_unasked(windlass: &Windlass, arguments: arguments::Approve) -> anyhow::Result<Sheet> {
    let card = find_card(&windlass.engine, &arguments.card).await?;
    let approval_strength = if arguments.yes { Strength::Confirmed } else { Strength::Explicit };
    let given = Given { approval_strength, ..Given::yes(arguments.conditions, arguments.note) };
    answer(windlass, card, given, arguments.output).await
}

pub async fn deny(windlass: &Windlass, arguments: arguments::Deny) -> anyhow::Result<Sheet> {
    refuse(windlass, &arguments.card, (Verdict::Declined, arguments.note), arguments.output).await
}

pub async fn edit(windlass: &Windlass, arguments: arguments::Edit) -> anyhow::Result<Sheet> {
    refuse(windlass, &arguments.card, (Verdict::EditRequested, arguments.note), arguments.output).await
}

/// Works whatever is wrong with the configuration: nobody must be kept from saying no.
async fn refuse(
    windlass: &Windlass,
    named: &str,
    (verdict, note): (Verdict, String),
    output: arguments::Output,
) -> anyhow::Result<Sheet> {
    let card = find_card(&windlass.engine, named).await?;
    let given = Given { verdict, approval_strength: Strength::Explicit, conditions: Vec::new(), note };
    answer(windlass, card, given, output).await
}

/// Of a card that cannot be answered any more, its own judgement says why.
async fn second_step(
    windlass: &Windlass,
    card: CardId,
    keyboard: Keyboard,
    interrupts: &mut Interrupts,
) -> Result<Strength, Unanswered> {
    let cards = windlass.engine.cards().await?;
    let Some(asked) = cards.into_iter().find(|asked| asked.card.card_id == card) else {
        return Ok(Strength::Explicit);
    };
    let mut dialogue = Dialogue { windlass, keyboard, about: Awaited::Card(card), interrupts };
    dialogue.show(&show_card(&asked, windlass.runtime.wall()));
    confirm(&mut dialogue, &asked.card).await?.ok_or(Unanswered::Leaves)
}

/// Signs, commits, and nothing else.
pub async fn give(windlass: &Windlass, card: CardId, given: Given) -> Result<Answered, Error> {
    let Given { verdict, approval_strength, conditions, note } = given;
    let key = windlass.keys.owner().map_err(|refused| Error::Unsigned(refused.to_string()))?;
    let by = windlass.user.clone();
    // Whoever can start this program with this data directory is who it belongs to.
    let answer = Answer { verdict, by, approval_strength, conditions, note, taint: Taint::Auth };
    windlass.engine.answer(card, answer, &key).await
}

async fn answer(windlass: &Windlass, card: CardId, given: Given, output: arguments::Output) -> anyhow::Result<Sheet> {
    windlass.keys.owner().map_err(WrongUse::from)?;
    let Answered { task, verdict } = give(windlass, card, given).await.map_err(explain)?;
    let (word, style) = match verdict {
        Verdict::Approved => ("APPROVED", Style::Good),
        Verdict::Conditional => ("APPROVED, with conditions", Style::Good),
        Verdict::Declined => ("DENIED", Style::Warn),
        Verdict::EditRequested => ("SENT BACK", Style::Warn),
    };
    let goal = goal_of(windlass, card).await?;
    let mut sheet = Sheet::new();
    if output.json {
        let (about, whose) = match &goal {
            Some(goal) => ("goal", json!(goal)),
            None => ("task_id", json!(task)),
        };
        sheet.object(&json!({"type": "result", "card_id": card, about: whose, "verdict": verdict}));
        return Ok(sheet);
    }
    let whose = goal.as_ref().map_or_else(|| format!("task {}", task.short()), |goal| format!("goal {goal}"));
    sheet.print(&Line::new().add(style, word).gap().facts(Style::Dim, [format!("card {}", card.short()), whose]));
    let then = match (&goal, verdict) {
        (Some(_), Verdict::Approved | Verdict::Conditional) => "a worker mends it from now on, unasked".to_owned(),
        (Some(_), _) => "it is looked at all the same, and every fix asks you itself".to_owned(),
        (None, _) => goes_on(windlass, task).await?,
    };
    sheet.print_whole(&Line::new().dim(then));
    Ok(sheet)
}

/// Who goes on with a task that has its answer.
async fn goes_on(windlass: &Windlass, task: TaskId) -> anyhow::Result<String> {
    let (whole, _) = whole(&windlass.engine, task).await?;
    Ok(match is_driven(windlass, whole).await? {
        false => format!("to go on: windlass resume {}; a worker does so by itself", whole.short()),
        true => "the process that works on it goes on with it".to_owned(),
    })
}

/// The name of the goal whose standing approval the card asks for: a goal is no task, and nobody goes on with it.
async fn goal_of(windlass: &Windlass, card: CardId) -> anyhow::Result<Option<String>> {
    let goals = windlass.engine.goals().await?;
    let asked = goals.iter().find(|goal| goal.state.added.as_ref().is_some_and(|added| added.card == card));
    Ok(asked.and_then(|goal| goal.state.name()).map(str::to_owned))
}
