//! The end of a tenant's events, read once for all who listen. It reads while anybody does, and is gone with the last of them. What
//! it holds for those who have not heard it yet is bounded, in number and in bytes: whoever does not keep up reads from the store what went.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::broadcast;
use windlass_domain::{Runtime, Tenant};
use windlass_engine::{Engine, Error, FeedEvent};

use super::frame::{Frame, frame, is_shown, of};

/// Frames that it holds at most, and what they may weigh together; the newest is held whatever it weighs.
const BUFFER: usize = 4_096;
const MOST_HELD: usize = 8 << 20;
pub const PAGE: usize = 500;
/// A hint may be lost.
const LOOK_ANYWAY: Duration = Duration::from_secs(2);
/// When the store does not answer: it is asked again.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Tails {
    tails: Mutex<BTreeMap<Tenant, Weak<Tail>>>,
}

/// Whoever has it listens; it ends when nobody has.
pub struct Tail {
    /// What was told, for as long as the tail holds it.
    sender: broadcast::Sender<Weak<Frame>>,
}

impl Tail {
    pub fn listen(&self) -> Heard {
        Heard(self.sender.subscribe())
    }
}

/// What one listener is told.
pub struct Heard(broadcast::Receiver<Weak<Frame>>);

/// What there is to hear.
pub enum News {
    Next(Arc<Frame>),
    /// Some went before they were heard: the store has them.
    Missed,
    Over,
}

impl Heard {
    pub async fn next(&mut self) -> News {
        match self.0.recv().await {
            Ok(frame) => frame.upgrade().map_or(News::Missed, News::Next),
            Err(broadcast::error::RecvError::Lagged(_)) => News::Missed,
            Err(broadcast::error::RecvError::Closed) => News::Over,
        }
    }
}

impl Tails {
    /// The tenant's one. What is committed after this call is heard by whoever listens to it.
    pub async fn of(&self, tenant: &Tenant, engine: Engine, runtime: &Arc<dyn Runtime>) -> Result<Arc<Tail>, Error> {
        if let Some(tail) = self.known(tenant) {
            return Ok(tail);
        }
        let from = engine.last_position().await?;
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = tails.get(tenant).and_then(Weak::upgrade) {
            return Ok(tail);
        }
        let tail = Arc::new(Tail { sender: broadcast::Sender::new(BUFFER) });
        tails.insert(tenant.clone(), Arc::downgrade(&tail));
        runtime.spawn(Box::pin(read(Arc::downgrade(&tail), engine, from, Arc::clone(runtime))));
        Ok(tail)
    }

    fn known(&self, tenant: &Tenant) -> Option<Arc<Tail>> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner).get(tenant).and_then(Weak::upgrade)
    }
}

async fn read(tail: Weak<Tail>, engine: Engine, mut position: u64, runtime: Arc<dyn Runtime>) {
    let mut hints = engine.hints();
    let mut held = Held::new(MOST_HELD);
    loop {
        let Some(listened_to) = tail.upgrade() else { return };
        match engine.events_after(position, PAGE).await {
            Ok(events) => {
                let is_all = events.len() < PAGE;
                let told = tell(&listened_to, events, &engine, &mut held, &mut position).await;
                drop(listened_to);
                if told.is_err() {
                    runtime.sleep(PAUSE).await;
                } else if is_all {
                    hints.changed(LOOK_ANYWAY).await;
                }
            }
            Err(_) => {
                drop(listened_to);
                runtime.sleep(PAUSE).await;
            }
        }
    }
}

/// What could not be told is read again.
async fn tell(
    tail: &Tail,
    events: Vec<FeedEvent>,
    engine: &Engine,
    held: &mut Held,
    position: &mut u64,
) -> Result<(), Error> {
    for event in events {
        let at = event.position;
        if is_shown(&event) {
            let of = of(engine, &event.about, &event.id).await?;
            // Nobody listening at this moment is no trouble.
            let _heard = tail.sender.send(held.hold(frame(event, of)));
        }
        *position = at;
    }
    Ok(())
}

/// What was told of late, for those who have not heard it yet.
struct Held {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    most: usize,
}

impl Held {
    const fn new(most: usize) -> Self {
        Self { frames: VecDeque::new(), bytes: 0, most }
    }

    fn hold(&mut self, frame: Frame) -> Weak<Frame> {
        let frame = Arc::new(frame);
        let told = Arc::downgrade(&frame);
        self.bytes += frame.weight();
        self.frames.push_back(frame);
        while self.frames.len() > BUFFER || (self.bytes > self.most && self.frames.len() > 1) {
            self.bytes -= self.frames.pop_front().map_or(0, |oldest| oldest.weight());
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame_of(length: usize) -> Frame {
        Frame { position: 1, of: [].into(), bytes: vec![0; length].into() }
    }

    #[test]
    fn what_is_held_for_those_who_are_slow_is_bounded_in_bytes() {
        let mut held = Held::new(10_000);
        let told: Vec<Weak<Frame>> = (0..100).map(|_| held.hold(frame_of(900))).collect();
        let there = told.iter().filter(|frame| frame.upgrade().is_some()).count();
        assert!((5..=10).contains(&there) && held.bytes <= 10_000, "{there} of {} bytes", held.bytes);
        assert!(told[100 - there..].iter().all(|frame| frame.upgrade().is_some()), "the newest");
        let large = held.hold(frame_of(1 << 20));
        assert!(large.upgrade().is_some(), "one is held, whatever it weighs");
        assert_eq!(held.frames.len(), 1);
        held.hold(frame_of(1));
        assert!(large.upgrade().is_none() && held.bytes < 10_000);
    }

    #[test]
    fn and_in_number() {
        let mut held = Held::new(usize::MAX);
        (0..BUFFER + 10).for_each(|_| drop(held.hold(frame_of(0))));
        assert_eq!(held.frames.len(), BUFFER);
    }
}
