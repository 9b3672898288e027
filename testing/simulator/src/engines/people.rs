//! Those who are asked: they see a card or a question when it is put, and answer it at once, late, twice or never, a card with a
//! real key. What they were told is on record.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::approval::{Answer, ApprovalState, CardId, Strength, Verdict};
use windlass_domain::{QuestionState, RequestId, Runtime as _, Taint, TaskId, Tenant};
use windlass_engine::{Engine, Error, Message, Sent};

use crate::engines::history::EngineWhat;
use crate::engines::house::{House, KEY};
use crate::engines::plan::Reply;

/// So soon that an answer may come while whoever asks is still going to sleep.
const LOOK: Duration = Duration::from_millis(20);

/// Answers what is asked, for ever.
pub async fn answer_all(house: Arc<House>) {
    let (mut cards, mut questions) = (0, 0);
    loop {
        house.process.sleep(LOOK).await;
        let new = house.scene().cards(cards);
        cards += new.len();
        for (tenant, card) in new {
            house.process.spawn(Box::pin(consider(Arc::clone(&house), tenant, card)));
        }
        let new = house.scene().questions(questions);
        questions += new.len();
        for (tenant, question) in new {
            house.process.spawn(Box::pin(think_about(Arc::clone(&house), tenant, question)));
        }
    }
}

async fn think_about(house: Arc<House>, tenant: Tenant, question: RequestId) {
    house.scene().busy();
    let engine = house.engine.for_tenant(tenant);
    if let Ok(QuestionState::Open(asked)) = engine.question(question).await
        && let Some(reply) = reply_to(&house, &asked.asked.question)
    {
        house.process.sleep(reply.after).await;
        for _ in 0..1 + u8::from(reply.again) {
            tell(&house, &engine, asked.task_id, question).await;
        }
    }
    house.scene().idle();
}

async fn tell(house: &House, engine: &Engine, task: TaskId, question: RequestId) {
    // Nobody says the same thing twice.
    let words = format!("answer {:x}", house.process.random());
    let message = Message { text: words.clone(), question: Some(question), by: "a person".to_owned() };
    let what = match engine.send(task, &message).await {
        Ok(sent) => EngineWhat::Replied { task, question, words, counts: matches!(sent, Sent::Answer(_)) },
        Err(Error::Over(_) | Error::TooLate(_)) => return,
        Err(error) => EngineWhat::Broken(format!("replying: {error}")),
    };
    house.scene().tell(house.process.id, what);
}

async fn consider(house: Arc<House>, tenant: Tenant, card: CardId) {
    house.scene().busy();
    let engine = house.engine.for_tenant(tenant);
    let state = engine.card(card).await;
    if let Ok((ApprovalState::Requested { card: asked }, Some(task))) = &state
        && let Some((verdict, after)) = reply_to_plan(&house, &asked.details)
    {
        house.process.sleep(after).await;
        let reply = Reply { verdict, after, again: false };
        give(&house, &engine, (card, *task, "the plan"), reply).await;
    }
    if let Ok((ApprovalState::Requested { card: asked }, Some(task))) = state
        && let Some(command) = asked.details["arguments"]["command"].as_str()
        && let Some(reply) = reply_to(&house, command)
    {
        house.process.sleep(reply.after).await;
        for _ in 0..1 + u8::from(reply.again) {
            give(&house, &engine, (card, task, command), reply).await;
        }
    }
    house.scene().idle();
}

fn reply_to(house: &House, command: &str) -> Option<Reply> {
    house.scene().plan.jobs().find_map(|job| job.marked(command)).map(|deed| deed.reply)
}

fn reply_to_plan(house: &House, details: &serde_json::Value) -> Option<(Option<Verdict>, Duration)> {
    let (id, revision) = (details["plan_id"].as_str()?, details["revision"].as_u64()?);
    let project = house.scene().plan.projects().find(|project| project.id() == id)?;
    let place = usize::try_from(revision).ok()?.checked_sub(1)?;
    project.replies.get(place).copied()
}

async fn give(house: &House, engine: &Engine, (card, task, command): (CardId, TaskId, &str), reply: Reply) {
    let Some(verdict) = reply.verdict else { return };
    let what = match engine.answer(card, answer(verdict), &KEY).await {
        Ok(answered) => EngineWhat::Answered { card, task, command: command.to_owned(), verdict: answered.verdict },
        Err(Error::Card(why)) => EngineWhat::Refused { card, why: why.to_string() },
        Err(error) => EngineWhat::Broken(format!("answering: {error}")),
    };
    house.scene().tell(house.process.id, what);
}

pub fn answer(verdict: Verdict) -> Answer {
    let conditions = if verdict == Verdict::Conditional { vec!["mind the paint".to_owned()] } else { Vec::new() };
    let note = if verdict == Verdict::EditRequested { "another colour".to_owned() } else { String::new() };
    Answer {
        verdict,
        by: "a person".to_owned(),
        approval_strength: Strength::Confirmed,
        conditions,
        note,
        taint: Taint::Auth,
    }
}
