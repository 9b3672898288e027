//! Several futures at once, each begun in its turn. Statements on one connection are sent when they are first polled and are
//! answered in the order in which they were sent, so this sends them all without waiting for any answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub(super) async fn in_order<T>(mut pending: Vec<Pending<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    // Answers come in order: what stands before this is done.
    let mut first = 0;
    let mut begun = false;
    poll_fn(|context| {
        for index in first..pending.len() {
            if done[index].is_none()
                && let Poll::Ready(answer) = pending[index].as_mut().poll(context)
            {
                done[index] = Some(answer);
            }
            // Once all are begun there is no use in asking those that come after one that is not done.
            if begun && done[index].is_none() {
                break;
            }
        }
        begun = true;
        first = done.iter().take_while(|answer| answer.is_some()).count();
        if first == done.len() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().map(|answer| answer.expect("all of them are done")).collect()
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn all_are_begun_before_the_first_is_answered_and_the_answers_keep_their_order() {
        let begun: Arc<Mutex<Vec<usize>>> = Arc::default();
        let gate = Arc::new(Mutex::new(false));
        let pending = (0..3).map(|number| {
            let (begun, gate) = (Arc::clone(&begun), Arc::clone(&gate));
            let mut seen = false;
            let future = poll_fn(move |_| {
                if !std::mem::replace(&mut seen, true) {
                    begun.lock().expect("no panic").push(number);
                }
                if *gate.lock().expect("no panic") { Poll::Ready(number) } else { Poll::Pending }
            });
            Box::pin(future) as Pending<'_, usize>
        });
        let mut all = pin!(in_order(pending.collect()));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(all.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(*begun.lock().expect("no panic"), [0, 1, 2]);
        *gate.lock().expect("no panic") = true;
        assert_eq!(all.as_mut().poll(&mut context), Poll::Ready(vec![0, 1, 2]));
    }

    #[test]
    fn none_and_those_that_are_done_at_once_are_answered_at_once() {
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(in_order::<u8>(Vec::new())).poll(&mut context), Poll::Ready(Vec::new()));
        let done = vec![Box::pin(ready(1_u8)) as Pending<'_, u8>, Box::pin(ready(2))];
        assert_eq!(pin!(in_order(done)).poll(&mut context), Poll::Ready(vec![1, 2]));
    }
}
