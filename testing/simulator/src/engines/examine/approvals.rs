//! Nothing of high risk, and nothing that could carry external content out, is done without a person's yes to exactly that,
//! given in time and verified before; nothing critical is done at all, nor anything of a task that nobody signed; and no yes is
//! used more often than it allows.

use windlass_domain::approval::{ApprovalEvent, ApprovalState, CardId};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{Taint, TaskId, Wall};

use super::court::{Approval, Bench, Court};
use crate::engines::history::{EngineRecord, EngineWhat};
use crate::engines::plan::{Help, Kind};
use crate::examine::folded::Execution;
use crate::ledger::Entry;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for bench in &court.tenants {
        for task in bench.tasks.keys() {
            let done = bench.ledger(court.history, *task);
            complaints.extend(done.filter_map(|entry| judge(court, bench, *task, entry)));
        }
        complaints.extend(bench.approvals.iter().flat_map(|(card, approval)| uses(*card, approval)));
    }
    complaints
}

fn judge(court: &Court<'_>, bench: &Bench<'_>, task: TaskId, entry: &Entry) -> Option<String> {
    let text = &entry.effect.text;
    let job = court.job_of(task)?;
    if !job.is_signed {
        return Some(format!("{text} was done, and nobody had signed its task"));
    }
    let deed = job.marked(text)?;
    let needs_a_yes = match deed.kind {
        Kind::Critical => return Some(format!("{text} was done, which is never allowed")),
        Kind::High | Kind::Spawn { does: Help::High, .. } => true,
        Kind::Plain | Kind::Write | Kind::Ask | Kind::Watch { .. } | Kind::Spawn { does: Help::Plain, .. } => {
            bench.executions(task).any(|execution| carries_out(execution, text))
        }
    };
    if !needs_a_yes {
        return None;
    }
    let before = || court.history.records.iter().take_while(|record| record.change < entry.change);
    let Some(card) = before().find_map(|record| yes_to(record, task, text)) else {
        return Some(format!("{text} was done, and nobody had said yes to it"));
    };
    let is_verified = bench.approvals.get(&card).is_some_and(|approval| count_uses(approval) > 0);
    let was_verified = before().any(|record| verifies(record, card));
    (!is_verified || !was_verified).then(|| format!("{text} was done without a verified approval"))
}

fn yes_to(record: &EngineRecord, of: TaskId, text: &str) -> Option<CardId> {
    match &record.what {
        EngineWhat::Answered { card, task, command, verdict }
            if *task == of && verdict.allows() && command.contains(text) =>
        {
            Some(*card)
        }
        _ => None,
    }
}

fn verifies(record: &EngineRecord, card: CardId) -> bool {
    let EngineWhat::Committed(both) = &record.what else { return false };
    let id = card.to_string();
    both.0.events.iter().any(|event| event.encoded.kind == "approval.verified" && event.stream.id() == id)
}

/// Whether the call with this text was started by a program with network when something from outside had been read: words
/// from there, or what an earlier program with network said.
fn carries_out(execution: &Execution, text: &str) -> bool {
    let mut calls = execution.calls().into_iter();
    let Some(call) = calls.find(|call| call.argument("command").is_some_and(|command| command.contains(text))) else {
        return false;
    };
    let (mut has_network, mut has_read) = (Vec::new(), false);
    for (_, event) in &execution.events {
        match event {
            ExecutionEvent::InjectionReceived(received) => has_read |= received.taint == Taint::External,
            ExecutionEvent::ToolFinished(finished) => has_read |= has_network.contains(&&finished.call_id),
            ExecutionEvent::ToolStarted(started) if started.reach.can_carry_out() => {
                if started.call_id == call.call.call_id {
                    return has_read;
                }
                has_network.push(&started.call_id);
            }
            _ => {}
        }
    }
    false
}

fn uses(card: CardId, approval: &Approval) -> Vec<String> {
    let mut complaints = Vec::new();
    let ApprovalState::Issued { card: asked, token, .. } = &approval.state else { return complaints };
    let used = count_uses(approval);
    if used > token.max_executions {
        complaints.push(format!("approval {card} was used {used} times, more often than it allows"));
    }
    let late = |at: &Wall, event: &ApprovalEvent| match event {
        ApprovalEvent::Decided(_) => *at >= asked.expires_at,
        ApprovalEvent::Verified(_) => *at >= token.expires_at,
        _ => false,
    };
    let late = approval.events.iter().filter(|(at, event)| late(at, event));
    complaints.extend(late.map(|(_, event)| format!("approval {card}: {event:?} came after its time")));
    complaints
}

fn count_uses(approval: &Approval) -> u32 {
    let used = approval.events.iter().filter(|(_, event)| matches!(event, ApprovalEvent::Verified(_)));
    u32::try_from(used.count()).unwrap_or(u32::MAX)
}
