//! Whether the store can be read, for those who watch over the server, whoever and however many they are. It is looked at once a
//! second at most, by one look at a time, and nobody waits long for it: a look that hangs is not asked again beside, so that
//! nothing piles up behind it, and the store does not answer until it has come back.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Either, Shared, select};
use tokio::sync::oneshot;
use windlass_domain::{BoxFuture, Instant, Runtime};

/// How long an answer is good.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// A store that takes longer is none that one could work with.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Pulse(Mutex<Known>);

#[derive(Default)]
struct Known {
    beats: Option<(bool, Instant)>,
    /// Under way.
    look: Option<Look>,
}

type Look = Shared<oneshot::Receiver<bool>>;

impl Pulse {
    pub async fn beats(&self, runtime: &dyn Runtime, look: impl FnOnce() -> BoxFuture<'static, bool>) -> bool {
        let looking = {
            let mut known = self.lock();
            match known.beats {
                Some((beats, at)) if runtime.now() - at < GOOD_FOR => return beats,
                _ => known.look.get_or_insert_with(|| begun(runtime, look())).clone(),
            }
        };
        let looked = match select(looking, runtime.sleep(PATIENCE)).await {
            Either::Left((looked, _)) => Some(looked.unwrap_or(false)),
            Either::Right(_) => None,
        };
        let mut known = self.lock();
        known.beats = Some((looked.unwrap_or(false), runtime.now()));
        if looked.is_some() {
            known.look = None;
        }
        looked.unwrap_or(false)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task of its own: whoever asked may hang up.
fn begun(runtime: &dyn Runtime, look: BoxFuture<'static, bool>) -> Look {
    let (tell, heard) = oneshot::channel();
    runtime.spawn(Box::pin(async move {
        let _nobody_may_wait = tell.send(look.await);
    }));
    heard.shared()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_domain::Wall;

    use super::*;

    /// A clock that goes when it is told to, and tasks that are run when they are told to.
    #[derive(Clone, Default)]
    struct Hand {
        millis: Arc<Mutex<u64>>,
        tasks: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    }

    impl Hand {
        fn pass(&self, length: Duration) {
            *self.millis.lock().unwrap() += u64::try_from(length.as_millis()).unwrap();
        }

        fn run(&self) {
            self.tasks.lock().unwrap().retain_mut(|task| task.now_or_never().is_none());
        }
    }

    impl Runtime for Hand {
        fn spawn(&self, task: BoxFuture<'static, ()>) {
            self.tasks.lock().unwrap().push(task);
        }

        fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
            let hand = self.clone();
            Box::pin(std::future::poll_fn(move |_| match hand.now() < deadline {
                true => std::task::Poll::Pending,
                false => std::task::Poll::Ready(()),
            }))
        }

        fn block(&self, _: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn now(&self) -> Instant {
            Instant::since_start(Duration::from_millis(*self.millis.lock().unwrap()))
        }

        fn wall(&self) -> Wall {
            Wall::default()
        }

        fn random(&self) -> u128 {
            0
        }
    }

    fn never() -> BoxFuture<'static, bool> {
        unreachable!("what is known is not looked at again")
    }

    #[test]
    fn many_who_ask_are_one_look_a_second() {
        let (hand, pulse) = (Hand::default(), Pulse::default());
        let mut first = Box::pin(pulse.beats(&hand, || Box::pin(async { true })));
        assert_eq!((&mut first).now_or_never(), None);
        let mut second = Box::pin(pulse.beats(&hand, never));
        assert_eq!((&mut second).now_or_never(), None);
        hand.run();
        assert_eq!((first.now_or_never(), second.now_or_never()), (Some(true), Some(true)));
        hand.pass(GOOD_FOR - Duration::from_millis(1));
        assert_eq!(pulse.beats(&hand, never).now_or_never(), Some(true));
        hand.pass(Duration::from_millis(1));
        let mut later = Box::pin(pulse.beats(&hand, || Box::pin(async { false })));
        assert_eq!((&mut later).now_or_never(), None);
        hand.run();
        assert_eq!(later.now_or_never(), Some(false), "what was so is not so for ever");
    }

    #[test]
    fn a_look_that_hangs_keeps_nobody_waiting_and_is_not_asked_again_beside() {
        let (hand, pulse) = (Hand::default(), Pulse::default());
        let (tell, heard) = oneshot::channel();
        let mut first = Box::pin(pulse.beats(&hand, || Box::pin(async { heard.await.unwrap_or(false) })));
        assert_eq!((&mut first).now_or_never(), None);
        hand.pass(PATIENCE);
        assert_eq!(first.now_or_never(), Some(false));
        assert_eq!(pulse.beats(&hand, never).now_or_never(), Some(false), "at once, for a second");
        hand.pass(GOOD_FOR);
        let mut second = Box::pin(pulse.beats(&hand, never));
        assert_eq!((&mut second).now_or_never(), None, "the same look");
        tell.send(true).unwrap();
        hand.run();
        assert_eq!(second.now_or_never(), Some(true), "it is back");
    }
}
