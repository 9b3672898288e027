//! Checking an item that holds others: its own checks, on the work of all of its parts.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use windlass_domain::graph::{GraphAction, GraphEvent, JoinChecked};
use windlass_domain::plan::AtomId;
use windlass_domain::task::TaskAction;
use windlass_domain::{Canceller, Check, CheckProbe, CheckResult, ErrorCode, ErrorDetails, Stop, Taint, TreeId};
use windlass_store::Topic;

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::attempt::{Judged, Patience, Protection, Subject, Trouble, Verifier};
use crate::host::Rider;

/// What no hint tells: what other processes write.
const LOOK_EVERY: Duration = Duration::from_millis(300);

impl GraphDriver {
    pub(super) async fn check_join(&mut self, atom: &AtomId, tip: TreeId) -> Result<Made, Error> {
        let judged = match self.judge(atom, tip).await? {
            Ok(judged) => judged,
            // Heeded by whoever looks next.
            Err(Trouble::Stopped(_)) => {
                self.look_again().await?;
                return Ok(Made::Overtaken);
            }
            Err(Trouble::Unable(error)) => {
                let pause = TaskAction::Pause { reason: error.message.clone() };
                return self.rest(pause, Some(error), Rider::default()).await;
            }
            Err(Trouble::Unfit(why)) => return Err(self.broken(why)),
        };
        if let Some(error) = self.not_to_be_made(atom, &judged) {
            let pause = TaskAction::Pause { reason: error.message.clone() };
            return self.rest(pause, Some(error), Rider::default()).await;
        }
        let checked = JoinChecked { atom: atom.clone(), tip, results: judged.results, report: None };
        let mut rider = Rider { blobs: judged.outputs, ..Rider::default() };
        self.ride(&mut rider, [GraphAction::CheckJoin(checked)], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    /// A check of the whole whose program is not there, before anything was done: no agent can change that, and all they did would be
    /// in vain.
    fn not_to_be_made(&self, atom: &AtomId, judged: &Judged) -> Option<ErrorDetails> {
        let graph = &self.graph.state;
        if graph.objective.is_none() || graph.atoms.values().any(|progress| !progress.runs.is_empty()) {
            return None;
        }
        let checks = &graph.work.item(atom)?.verify.0;
        let (check, program) = checks
            .iter()
            .zip(&judged.results)
            .find_map(|(check, result)| Some((check, missing_program(check, result)?)))?;
        let message = format!(
            "the check `{}` cannot be made here: there is no program `{program}` in the sandbox. Install it, or change the check with \
             `windlass redirect {} --base-case …`; then: windlass start {}",
            check.name,
            self.task.short(),
            self.task.short()
        );
        Some(ErrorDetails::new(ErrorCode::ChecksFailed, message))
    }

    pub(super) async fn judge(&self, atom: &AtomId, tip: TreeId) -> Result<Result<Judged, Trouble>, Error> {
        let shared = &self.engine.shared;
        let created = self.created()?;
        let item = self.graph.state.work.item(atom);
        let item = item.ok_or_else(|| self.broken(format!("the plan has no item {atom}")))?;
        let baseline = self.graph.state.base.ok_or_else(|| self.broken("the plan stands on nothing"))?;
        let workspace = match shared.equipment.workspace(created.workspace.as_ref()) {
            Ok(workspace) => workspace,
            Err(error) => return Ok(Err(error.into())),
        };
        let time = Duration::from_secs(item.budget.max_wall_time_seconds);
        let given_up = Canceller::default();
        let verifier = Verifier {
            engine: self.engine.clone(),
            task: self.task,
            sandbox: created.sandbox.clone(),
            checks: item.verify.clone(),
            workspace,
            cancel: given_up.signal(),
            patience: Patience::new(given_up.signal(), Arc::clone(&shared.runtime), time),
        };
        let protection = Protection::under(&self.graph.state).unwrap_or_else(|| Protection::of(baseline));
        let judging = pin!(verifier.judge(Subject { tree: tip, baseline, protection, new_repositories: Vec::new() }));
        match select(judging, pin!(self.no_longer_wanted())).await {
            Either::Left((judged, _)) => Ok(judged),
            Either::Right((reason, judging)) => {
                given_up.stop(*reason.as_ref().unwrap_or(&Stop::Pause));
                // It ends by itself, and clears away what it had begun.
                let judged = judging.await;
                reason.map(|_| judged)
            }
        }
    }

    /// Until somebody wants it to stop, or something else: what a check says of what is not wanted any more nobody waits for.
    async fn no_longer_wanted(&self) -> Result<Stop, Error> {
        let shared = &self.engine.shared;
        let signal = self.canceller.signal();
        let mut hints = shared.store.notifier().subscribe(Topic::Events { tenant: shared.tenant.clone() });
        let mut head = self.graph.head;
        loop {
            if let Some(stop) = signal.raised() {
                return Ok(stop);
            }
            for row in self.engine.rows_after(&self.graph.stream, head).await? {
                head = row.seq;
                if let GraphEvent::Corrected(_) = GraphEvent::decode(&row.kind, row.version, &row.data)? {
                    return Ok(Stop::Pause);
                }
            }
            let _whichever = select(pin!(hints.changed(LOOK_EVERY)), pin!(signal.wait())).await;
        }
    }
}

/// What a shell says of a command that it does not find.
const NOT_FOUND: i32 = 127;

/// The program that a check begins with, where the shell says that there is none. One that is named by a path may be made yet.
fn missing_program(check: &Check, result: &CheckResult) -> Option<String> {
    let CheckProbe::Run { run, .. } = &check.probe else { return None };
    let program = run.split_whitespace().next().filter(|word| !word.contains(['/', '=']))?;
    let said = [format!("{program}: not found"), format!("{program}: command not found")];
    let is_missing = result.exit_code == Some(NOT_FOUND) && said.iter().any(|said| result.output.contains(said));
    is_missing.then(|| program.to_owned())
}
