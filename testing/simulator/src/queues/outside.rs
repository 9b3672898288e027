//! Those who do not die: clients that ask, hear nothing and ask again; whoever sets the clocks; a tenant that meddles; and
//! the operator, who retries every dead letter once and says when a history is over.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{MessageId, Runtime as _};
use windlass_store::queue::{enqueue, retry};
use windlass_store::{Commit, DeliveryChange, Error, Store as _};

use crate::queues::errand::Errand;
use crate::queues::process::{QueueProcess, QueueStore};
use crate::queues::scene::{AGAIN, tenant};
use crate::queues::worker::QUEUES;
use crate::queues::{Act, Request, What};

const LOOK: Duration = Duration::from_millis(500);
/// On the world's clock, after the last act: all deliveries, their delays and as many lost leases take less.
const LONGEST: Duration = Duration::from_mins(10);
pub const TENANTS: u8 = 3;

/// Starts everybody, and returns when there is nothing left to do.
pub async fn oversee(process: Arc<QueueProcess>) {
    for act in process.scene.plan.acts.clone() {
        let actor = Arc::clone(&process);
        match act {
            Act::Asks(request) => {
                for _ in 0..1 + u8::from(request.has_twin) {
                    process.scene.client_began();
                    process.spawn(Box::pin(ask(Arc::clone(&process), request.clone())));
                }
            }
            Act::Jumps { worker, at, by_millis } => process.spawn(Box::pin(async move {
                actor.sleep(at).await;
                actor.tell(What::ClockSet { worker, by_millis });
                actor.scene.set_clock(worker, by_millis);
            })),
            Act::Meddles { tenant, at } => process.spawn(Box::pin(meddle(actor, tenant, at))),
            Act::Befalls { .. } | Act::Races { .. } => {}
        }
    }
    operate(&process).await;
}

async fn operate(process: &Arc<QueueProcess>) {
    let store = process.store();
    let last = process.scene.plan.last_moment();
    let (mut retried, mut was_quiet) = (BTreeSet::new(), false);
    process.sleep(last).await;
    loop {
        process.sleep(LOOK).await;
        if process.scene.has_dead_letters() {
            retry_each_once(process, &store, &mut retried).await;
        }
        // Twice: whoever was woken a moment ago has its chance to do harm.
        if std::mem::replace(&mut was_quiet, process.scene.is_quiet()) && was_quiet {
            return;
        }
        if process.scene.simulation.now() > last + LONGEST {
            return process.tell(What::TimedOut);
        }
    }
}

async fn retry_each_once(process: &QueueProcess, store: &QueueStore, retried: &mut BTreeSet<MessageId>) {
    for tenant in (0..TENANTS).map(tenant) {
        for letter in store.dead_letters(&tenant, None, 100).await.unwrap_or_default() {
            if retried.insert(letter.message_id)
                && let Err(error) = retry(store, &tenant, letter.message_id, process.wall()).await
            {
                process.tell(What::Broken(format!("retrying: {error}")));
            }
        }
    }
}

async fn ask(process: Arc<QueueProcess>, request: Request) {
    let store = process.store();
    process.sleep(request.at).await;
    for try_number in 0.. {
        let mut commit = Commit::unfenced(tenant(request.tenant), process.wall());
        for message in 0..request.messages {
            let errand = Errand { request: request.number, message, step: 0 };
            if let Err(error) = enqueue(&mut commit, errand.route().1, &first_message(&process, &request, errand)) {
                process.tell(What::Broken(format!("asking: {error}")));
            }
        }
        let answer = store.commit(commit).await;
        if try_number < request.lost_answers {
            process.sleep(AGAIN).await;
            continue;
        }
        match answer {
            Ok(_) | Err(Error::Duplicate { .. }) => process.tell(What::Accepted { request: request.number }),
            Err(error) => process.tell(What::Broken(format!("asking: {error}"))),
        }
        return process.scene.client_ended();
    }
}

fn first_message(process: &QueueProcess, request: &Request, errand: Errand) -> QueueMessage {
    let seed = process.scene.plan.seed;
    let (id, trace) = (errand.message_id(seed), errand.trace_id(seed));
    let whose = (tenant(request.tenant), request.taint);
    let message = QueueMessage::new(id, trace, errand.route().0, whose, errand.to_string(), process.wall());
    QueueMessage { urgency: request.urgency, ..message }
}

/// Knows the deliveries of others by heart, and tries to be done with them as if they were its own.
async fn meddle(process: Arc<QueueProcess>, own: u8, at: Duration) {
    let (store, own) = (process.store(), tenant(own));
    process.sleep(at).await;
    for _ in 0..20 {
        process.sleep(LOOK / 2).await;
        for queue in QUEUES {
            let leased = store.leased(queue.name(), 100).await.unwrap_or_default();
            for found in leased.into_iter().filter(|found| found.message.tenant != own) {
                let id = found.delivery.message_id;
                if store.message(&own, id).await.is_ok_and(|message| message.is_some()) {
                    process.tell(What::Broken(format!("{own} was shown a message of {}", found.message.tenant)));
                }
                let mut commit = Commit::unfenced(own.clone(), process.wall());
                commit.deliveries.push(DeliveryChange::Ack(found.delivery));
                // Refused, or the record shows that it was not.
                let _ = store.commit(commit).await;
            }
        }
    }
}
