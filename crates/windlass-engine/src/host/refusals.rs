//! What the commands of an attempt asked for outside and did not get, from the proxy that refused it to the journal and the
//! audit. The first time for each host is told with the next commit; how often it was in all, when the attempt rests. A
//! command can ask for as many hosts as it likes: so many are told, and the rest is a number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use windlass_domain::Host as _;
use windlass_domain::execution::{EgressRefused, ExecutionCommand};
use windlass_sandbox::Refused as NotReached;
use windlass_store::NewEvent;
use windlass_store::queue::{Actor, AuditType};

use super::execution_host::ExecutionHost;
use crate::approvals::Audited;

/// Of one attempt, in one process.
const MOST_HOSTS: usize = 50;
const LONGEST_HOST: usize = 255;
/// Stands for all that are not told by name.
const OTHERS: &str = "other hosts";

#[derive(Debug, Default)]
pub struct Refusals(Mutex<BTreeMap<(String, u16), Tally>>);

#[derive(Debug)]
struct Tally {
    reason: String,
    times: u64,
    told: u64,
}

impl Refusals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, u16), Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What merely failed is the command's own affair.
    pub fn note(&self, refused: &NotReached) {
        if !refused.reason.is_denial() {
            return;
        }
        let mut known = self.lock();
        let host: String = refused.host.chars().take(LONGEST_HOST).collect();
        let named = (host, refused.port);
        let is_told_by_name = known.len() < MOST_HOSTS || known.contains_key(&named);
        let (place, reason) = match is_told_by_name {
            true => (named, refused.reason.to_string()),
            false => ((OTHERS.to_owned(), 0), "they are not among the allowed hosts either".to_owned()),
        };
        known.entry(place).or_insert(Tally { reason, times: 0, told: 0 }).times += 1;
    }

    /// What was refused for the first time since this was asked last; at a rest, all that was refused since it was told.
    fn take(&self, when: When) -> Vec<EgressRefused> {
        let mut known = self.lock();
        let is_news = |tally: &Tally| tally.told == 0 || (when == When::AtRest && tally.told < tally.times);
        let news = known.iter_mut().filter(|(_, tally)| is_news(tally));
        let told = news.map(|((host, port), tally)| {
            tally.told = tally.times;
            EgressRefused { host: host.clone(), port: *port, reason: tally.reason.clone(), times: tally.times }
        });
        told.collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    UnderWay,
    AtRest,
}

impl ExecutionHost {
    pub fn refusals(&self) -> Arc<Refusals> {
        Arc::clone(&self.refusals)
    }

    /// Stages what there is to tell.
    pub fn note_refusals(&self, when: When) -> Result<(), windlass_domain::Refused> {
        let state = self.state();
        if state.header.is_none() || state.lifecycle.is_over() {
            return Ok(());
        }
        drop(state);
        for refused in self.refusals.take(when) {
            let audited = self.audit_refusal(&refused);
            self.decide(vec![ExecutionCommand::NoteRefusal(refused)])?;
            self.note(audited);
        }
        Ok(())
    }

    fn audit_refusal(&self, refused: &EgressRefused) -> NewEvent {
        let EgressRefused { host, port, reason, times } = refused;
        let details = json!({"host": host, "port": port, "times": times, "execution_id": self.execution});
        let (event_type, actor) = (AuditType::GateBlock, Actor::Runtime);
        let reason = format!("{host}:{port}: {reason}");
        let audited = Audited { event_type, actor, decision: "egress refused", reason: &reason, details };
        audited.about(self.task, &self.shared, self.state().taint, self.shared.wall())
    }
}

#[cfg(test)]
mod tests {
    use windlass_sandbox::Reason;

    use super::*;

    fn asked(refusals: &Refusals, host: &str, reason: Reason) {
        refusals.note(&NotReached { host: host.to_owned(), port: 443, reason });
    }

    #[test]
    fn each_host_is_told_once_and_counted_in_the_end() {
        let refusals = Refusals::default();
        let told = |when| refusals.take(when).into_iter().map(|it| (it.host, it.times)).collect::<Vec<_>>();
        asked(&refusals, "evil.example", Reason::NotListed);
        asked(&refusals, "slow.example", Reason::TooSlow);
        assert_eq!(told(When::UnderWay), [("evil.example".to_owned(), 1)], "what is slow is not refused");
        asked(&refusals, "evil.example", Reason::NotListed);
        assert_eq!(told(When::UnderWay), []);
        assert_eq!(told(When::AtRest), [("evil.example".to_owned(), 2)]);
        assert_eq!(told(When::AtRest), []);
    }

    #[test]
    fn however_many_are_asked_for_so_many_are_told() {
        let refusals = Refusals::default();
        for number in 0..1_000 {
            asked(&refusals, &format!("{number}.evil.example"), Reason::NotListed);
        }
        let told = refusals.take(When::UnderWay);
        assert_eq!(told.len(), MOST_HOSTS + 1);
        let others = told.iter().find(|refused| refused.host == OTHERS).expect("the rest");
        assert_eq!(others.times, 1_000 - MOST_HOSTS as u64);
    }
}
