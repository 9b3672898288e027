//! The connection that writes, and the one way it is used: a group of commits in one transaction.
//!
//! Transactions of all processes take turns: each begins by taking one lock and has it until its commit record is on the
//! server's disk. `position` is then commit order without gaps, by construction: whoever reads a position can see every lower
//! one, because no later transaction has begun to write before the earlier one could be seen. The chain, whose digests hold
//! positions, needs the same. The rejected alternatives: a sequence (positions that commit late are skipped by readers), a
//! horizon of open transactions (every reader pays, and a chain cannot be built on what may still be rolled back), and taking
//! the lock only at the end (it is the sync that takes long, and that is under the lock either way; guards would need row
//! locks, and locks in whatever order collide). What makes it fast is that a group is three exchanges with the server however
//! many commits it has.
//!
//! Each transaction leaves its number in `writers`. Whoever loses the connection in the middle of a COMMIT looks there, under
//! the lock, hence after the lost transaction has come to its end: it happened, or it is done again.

use std::sync::Arc;

use tokio_postgres::Row;
use uuid::Uuid;
use windlass_domain::Runtime;

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::notifier::topics_of;
use crate::providers::postgres::apply::{first, plan};
use crate::providers::postgres::codec::Columns as _;
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::ground::{CHAINS, Ground, HEADS, LAST_POSITION, Questions};
use crate::providers::postgres::hints;
use crate::providers::postgres::in_order::{Pending, in_order};
use crate::providers::postgres::levels::lower;
use crate::providers::postgres::options::Options;
use crate::providers::postgres::patience::Patience;
use crate::providers::postgres::session::Session;
use crate::providers::postgres::step::{Plan, Step, Value, values};

/// "Wdls" and a number; `migrate` has another.
pub(crate) const LOCK: &str = "SELECT pg_advisory_xact_lock(x'57646c7300000002'::bigint)";

const SIGN: &str = "INSERT INTO writers (id, last, at) VALUES ($1, $2, clock_timestamp())
                    ON CONFLICT (id) DO UPDATE SET last = excluded.last, at = excluded.at";

const NOTIFY: &str = "SELECT pg_notify('windlass', $1)";

/// Under one lock there is nothing to collide with; somebody's own statements may see to it all the same.
const MOST_COLLISIONS: usize = 5;

const MARK: &str = "SAVEPOINT one";
const NEXT_MARK: &str = "RELEASE SAVEPOINT one; SAVEPOINT one";
const BACK: &str = "ROLLBACK TO SAVEPOINT one";

pub(super) struct Ledger {
    options: Options,
    runtime: Arc<dyn Runtime>,
    session: Option<Session>,
    /// This process, to itself and to those who hear its hints.
    writer: Uuid,
    /// Of the last transaction.
    number: i64,
}

/// One for each commit of the group, in its order.
pub(super) type Outcomes = Vec<Result<Committed, Error>>;

/// Why a transaction did not end as it should.
enum Trouble {
    /// Nothing of it happened.
    Undone(Failure),
    /// The connection was lost in the middle of its end. If it happened, these are its outcomes.
    Unknown(Failure, Outcomes),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Undone(failure)
    }
}

/// What has been sent for a group, and where that leaves its transaction.
struct Sent {
    outcomes: Outcomes,
    /// What the next statement must be preceded by, if it is to belong to what stands.
    before_next: Option<&'static str>,
}

impl Ledger {
    pub(super) fn new(options: Options, runtime: Arc<dyn Runtime>, session: Session, writer: Uuid) -> Self {
        Self { options, runtime, session: Some(session), writer, number: 0 }
    }

    pub(super) async fn commit_group(&mut self, group: &[&Commit]) -> Outcomes {
        let mut patience = Patience::new(&self.runtime, self.options.limits.patience);
        let mut collisions = 0;
        let told = |error: Error| vec![Err(error); group.len()];
        loop {
            let failure = match self.try_group(group).await {
                Ok(outcomes) => return outcomes,
                Err(Trouble::Undone(failure)) => failure,
                Err(Trouble::Unknown(failure, outcomes)) => match self.has_happened(&mut patience).await {
                    Some(true) => return outcomes,
                    Some(false) => continue,
                    None => {
                        let place = self.options.address.place().to_owned();
                        return told(Error::Unconfirmed { place, detail: failure.detail() });
                    }
                },
            };
            let is_over = match &failure {
                lost if lost.is_lost() => {
                    self.session = None;
                    !patience.has_more().await
                }
                collision if collision.is_collision() => {
                    collisions += 1;
                    self.take_back().await;
                    collisions > MOST_COLLISIONS
                }
                _ => {
                    self.take_back().await;
                    true
                }
            };
            if is_over {
                return told(failure.describe(self.options.address.place()));
            }
        }
    }

    /// Runs work of the store's own under the same lock.
    pub(super) async fn alone(&mut self, sql: &str) -> Result<(), Failure> {
        let session = self.session().await?;
        let done = async {
            session.run("BEGIN").await?;
            session.run(LOCK).await?;
            session.run(sql).await?;
            session.run("COMMIT").await
        };
        let done = done.await.map(drop);
        if done.is_err() {
            // What is half done ends with its session.
            self.session = None;
        }
        done
    }

    async fn session(&mut self) -> Result<&Session, Failure> {
        if self.session.as_ref().is_some_and(Session::is_closed) {
            self.session = None;
        }
        let session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.options, &self.runtime).await?,
        };
        Ok(self.session.insert(session))
    }

    /// A session that cannot even roll back is of no use any more.
    async fn take_back(&mut self) {
        if let Some(session) = &self.session
            && session.run("ROLLBACK").await.is_err()
        {
            self.session = None;
        }
    }

    /// Whether the last transaction, whose end was not heard of, was one. `None`: there was nobody to ask.
    async fn has_happened(&mut self, patience: &mut Patience) -> Option<bool> {
        loop {
            self.session = None;
            match self.last_signed().await {
                Ok(last) => return Some(last == Some(self.number)),
                Err(_) if patience.has_more().await => {}
                Err(_) => return None,
            }
        }
    }

    async fn last_signed(&mut self) -> Result<Option<i64>, Failure> {
        let writer = self.writer;
        let session = self.session().await?;
        session.run("BEGIN").await?;
        // Whoever has this has waited for the lost transaction.
        session.run(LOCK).await?;
        let rows = session.query("SELECT last FROM writers WHERE id = $1", &[&writer]).await?;
        session.run("ROLLBACK").await?;
        rows.first().map(|row| row.value(0)).transpose()
    }

    async fn try_group(&mut self, group: &[&Commit]) -> Result<Outcomes, Trouble> {
        let (writer, number) = (self.writer, self.number + 1);
        let place = self.options.address.place().to_owned();
        let session = self.session().await?;
        let signature = values![writer, number];
        let ground = begin(session, group, &signature).await?;
        let lowered = lower(session, group).await?;
        let lowered: Option<Vec<&Commit>> = lowered.as_ref().map(|group| group.iter().collect());
        let group = lowered.as_deref().unwrap_or(group);
        let sent = match all_at_once(session, group, &ground, &place).await? {
            Some(sent) => sent,
            None => one_by_one(session, group, ground, &place).await?,
        };
        if sent.outcomes.iter().all(Result::is_err) {
            session.run("ROLLBACK").await?;
            return Ok(sent.outcomes);
        }
        let hint = hints::encode(writer, &told(group, &sent.outcomes));
        let ended = end(session, sent.before_next, hint).await;
        self.number = number;
        match ended {
            Ok(()) => Ok(sent.outcomes),
            Err(failure) if failure.is_lost() => Err(Trouble::Unknown(failure, sent.outcomes)),
            Err(failure) => Err(Trouble::Undone(failure)),
        }
    }
}

/// What other processes may want to know of.
fn told(group: &[&Commit], outcomes: &Outcomes) -> Vec<crate::notifier::Topic> {
    let done = group.iter().zip(outcomes).filter_map(|(commit, outcome)| Some((commit, outcome.as_ref().ok()?)));
    done.flat_map(|(commit, committed)| topics_of(commit, committed)).collect()
}

/// Each statement sees what was committed before it began: those after the lock see everything there is.
async fn begin(session: &Session, group: &[&Commit], signature: &[Value<'_>]) -> Result<Ground, Failure> {
    let questions = Questions::of(group);
    let (sign, last) = (session.statement(SIGN).await?, session.statement(LAST_POSITION).await?);
    let (heads, chains) = (session.statement(HEADS).await?, session.statement(CHAINS).await?);
    let streams = values![questions.stream_tenants, questions.stream_names];
    let tenants = values![questions.tenants];
    // A commit that is alone takes back the whole transaction.
    let mark = if group.len() > 1 { MARK } else { "" };
    let answers = in_order(vec![
        Box::pin(session.run("BEGIN")) as Pending<'_, _>,
        Box::pin(session.run(LOCK)),
        Box::pin(session.answer(sign, signature)),
        Box::pin(session.answer(last, &[])),
        Box::pin(session.answer(heads, &streams)),
        Box::pin(session.answer(chains, &tenants)),
        Box::pin(session.run(mark)),
    ])
    .await;
    let answers: Vec<Vec<Row>> = answers.into_iter().collect::<Result<_, _>>()?;
    Ground::read(first(&answers[3])?, &answers[4], &answers[5])
}

/// Sends the whole group without waiting, as if none of it would be refused. `None`: one was, and all has to be taken back.
async fn all_at_once(
    session: &Session,
    group: &[&Commit],
    ground: &Ground,
    place: &str,
) -> Result<Option<Sent>, Failure> {
    let mut ground = ground.clone();
    let plans: Vec<Plan<'_>> = group.iter().map(|commit| plan(commit, &mut ground)).collect();
    let is_alone = group.len() == 1;
    if !is_alone && plans.iter().any(|plan| plan.writes_in_vain) {
        return Ok(None);
    }
    let mut answers = send(session, None, &plans).await?.into_iter();
    let mut outcomes = Vec::with_capacity(plans.len());
    for plan in plans {
        // It has only looked: there is nothing to take back.
        let is_harmless = plan.refused.is_some() || is_alone;
        match judged(plan, &mut answers) {
            Ok(committed) => outcomes.push(Ok(committed)),
            Err(failure) if !failure.is_local() => return Err(failure),
            Err(failure) if is_harmless => outcomes.push(Err(failure.describe(place))),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(Sent { outcomes, before_next: None }))
}

/// The group once more, a savepoint each, so that one that is refused takes back its own rows and nobody else's.
async fn one_by_one(session: &Session, group: &[&Commit], mut ground: Ground, place: &str) -> Result<Sent, Failure> {
    let (mut outcomes, mut before) = (Vec::with_capacity(group.len()), BACK);
    for commit in group {
        let mut after = ground.clone();
        let plan = plan(commit, &mut after);
        let mut answers = send(session, Some(before), std::slice::from_ref(&plan)).await?.into_iter();
        match judged(plan, &mut answers) {
            Ok(committed) => {
                outcomes.push(Ok(committed));
                (ground, before) = (after, NEXT_MARK);
            }
            Err(failure) if failure.is_local() => {
                outcomes.push(Err(failure.describe(place)));
                before = BACK;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(Sent { outcomes, before_next: Some(before) })
}

type Answer = Result<Vec<Row>, Failure>;

async fn send(session: &Session, before: Option<&'static str>, plans: &[Plan<'_>]) -> Result<Vec<Answer>, Failure> {
    let mut pending: Vec<Pending<'_, Answer>> = Vec::new();
    if let Some(before) = before {
        pending.push(Box::pin(session.run(before)));
    }
    for step in plans.iter().flat_map(|plan| &plan.steps) {
        let statement = session.statement(step.sql).await?;
        pending.push(Box::pin(session.answer(statement, &step.values)));
    }
    let mut answers = in_order(pending).await;
    if before.is_some() {
        answers.remove(0)?;
    }
    Ok(answers)
}

/// What the answers to a plan's steps, which are the next ones, come to.
fn judged(plan: Plan<'_>, answers: &mut impl Iterator<Item = Answer>) -> Result<Committed, Failure> {
    let Plan { steps, refused, mut committed, .. } = plan;
    let answers: Vec<Answer> = answers.take(steps.len()).collect();
    for (Step { judge, .. }, answer) in steps.into_iter().zip(answers) {
        judge(answer?, &mut committed)?;
    }
    refused.map_or(Ok(committed), |refusal| Err(Failure::Refused(refusal)))
}

/// The end of a transaction. If anything before the COMMIT fails the server takes it for a ROLLBACK, so that the first failure
/// says that nothing happened.
async fn end(session: &Session, before: Option<&'static str>, hint: Option<String>) -> Result<(), Failure> {
    let notify = session.statement(NOTIFY).await?;
    let hint: Option<Vec<Value<'_>>> = hint.map(|hint| values![hint]);
    let mut pending: Vec<Pending<'_, Answer>> = Vec::new();
    if let Some(before) = before {
        pending.push(Box::pin(session.run(before)));
    }
    if let Some(hint) = &hint {
        pending.push(Box::pin(session.answer(notify, hint)));
    }
    pending.push(Box::pin(session.run("COMMIT")));
    in_order(pending).await.into_iter().try_for_each(|answer| answer.map(drop))
}
