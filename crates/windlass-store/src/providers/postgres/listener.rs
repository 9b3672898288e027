//! Hearing of other processes' commits: a connection of its own that does nothing but `LISTEN`, made anew when it is lost.
//! What was said while the connection was lost has not been heard, so everybody then looks once. What is said before it is first
//! made is not heard either: whoever waits has a limit.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_postgres::AsyncMessage;
use uuid::Uuid;
use windlass_domain::Runtime;

use crate::notifier::{Elsewhere, Notifier};
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::hints;
use crate::providers::postgres::options::Options;
use crate::providers::postgres::tls::Tls;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(super) struct Listener {
    pub options: Options,
    pub runtime: Arc<dyn Runtime>,
    /// Whose own words need not be heard.
    pub own: Uuid,
    /// Its other end is the store.
    pub closed: watch::Receiver<()>,
}

impl Listener {
    pub(super) async fn listen(mut self, notifier: Notifier) {
        let (mut pause, mut has_heard) = (FIRST_PAUSE, false);
        loop {
            match self.hear(&notifier, &mut pause, &mut has_heard).await {
                Ok(()) => return,
                // Whoever waits looks by itself after a while; being told is only sooner.
                Err(_lost) => {
                    let over = self.runtime.sleep(pause);
                    tokio::select! {
                        () = over => {}
                        _ = self.closed.changed() => return,
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Until the store is closed; an error when the connection is.
    async fn hear(&mut self, notifier: &Notifier, pause: &mut Duration, has_heard: &mut bool) -> Result<(), Failure> {
        let tls = Tls::of(&self.options.address)?;
        let (client, mut connection) = self.options.address.config.connect(tls).await?;
        let (tell, mut told) = mpsc::unbounded_channel();
        self.runtime.spawn(Box::pin(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(notification) = message {
                    // Nobody listens any more: the connection is about to end.
                    let _ = tell.send(notification);
                }
            }
        }));
        client.batch_execute("LISTEN windlass").await?;
        *pause = FIRST_PAUSE;
        if std::mem::replace(has_heard, true) {
            notifier.publish_elsewhere(&Elsewhere::Anything);
        }
        loop {
            tokio::select! {
                notification = told.recv() => match notification {
                    Some(notification) => {
                        let heard = hints::decode(self.own, notification.payload());
                        heard.into_iter().for_each(|elsewhere| notifier.publish_elsewhere(&elsewhere));
                    }
                    None => return Err(Failure::Lost("the connection that listens was closed".to_owned())),
                },
                _ = self.closed.changed() => return Ok(()),
            }
        }
    }
}
