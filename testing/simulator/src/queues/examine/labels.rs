//! What a message carries along: its trace never changes, and its taint never falls, along every row of messages and into
//! the records of their effects.

use windlass_domain::Taint;

use crate::queues::QueueHistory;
use crate::queues::errand::{EFFECT, Errand};
use crate::queues::examine::books::{Books, Kept, errand_of};

pub fn check(history: &QueueHistory) -> Vec<String> {
    let mut complaints = Vec::new();
    Books::walk(history, |books, _, commit| {
        for message in &commit.messages {
            let errand = errand_of(message);
            let Some(cause) = cause(books, errand) else { continue };
            if message.trace_id != cause.trace {
                complaints.push(format!("{errand} changed its trace"));
            }
            if message.taint < taint_after(history, cause) {
                complaints.push(format!("{errand} lost its taint: {:?} after {:?}", message.taint, cause.taint));
            }
        }
        for event in commit.events.iter().filter(|event| event.encoded.kind == EFFECT) {
            let errand = Errand::of_effect(event.encoded.data.get());
            let kept = errand.and_then(|errand| books.messages.get(books.by_errand.get(&errand)?));
            if kept.is_some_and(|kept| event.taint < taint_after(history, kept)) {
                complaints.push(format!("the effect of {errand:?} lost its taint"));
            }
        }
    });
    complaints
}

/// What a message follows from.
fn cause(books: &Books, errand: Errand) -> Option<&Kept> {
    let step = errand.step.checked_sub(1)?;
    books.messages.get(books.by_errand.get(&Errand { step, ..errand })?)
}

/// The least that whatever comes of a message must carry.
fn taint_after(history: &QueueHistory, kept: &Kept) -> Taint {
    let request = history.plan.requests().find(|request| request.number == kept.errand.request);
    let work = request.map(|request| request.works[usize::from(kept.errand.step)]);
    let read = work.filter(|work| work.reads_external).map_or(Taint::Owner, |_| Taint::External);
    kept.taint.join(read)
}
