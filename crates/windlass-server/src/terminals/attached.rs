//! The connection to whoever runs a terminal. They are on this machine and answer at once, or they are broken.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use windlass_domain::ExecutionId;
use windlass_terminal::{Hands, Seen, look_on_as_it_is};

use crate::problems::Refusal;
use crate::service::Service;

const PATIENCE: Duration = Duration::from_secs(5);

pub struct Attached {
    /// What runs there.
    pub name: String,
    pub seen: Seen,
    pub hands: Hands,
}

/// None where no such terminal is open.
pub async fn attach(service: &Service, execution: ExecutionId) -> Result<Option<Attached>, Refusal> {
    within(service, async {
        let Some(stream) = service.terminals.sockets.connect(&execution.to_string()).await? else { return Ok(None) };
        let (name, seen, hands) = look_on_as_it_is(stream).await?;
        Ok(Some(Attached { name, seen, hands }))
    })
    .await
}

/// So long at most.
pub async fn within<T>(service: &Service, asked: impl Future<Output = std::io::Result<T>>) -> Result<T, Refusal> {
    let limit = service.runtime.sleep(PATIENCE);
    match select(pin!(asked), limit).await {
        Either::Left((Ok(told), _)) => Ok(told),
        Either::Left((Err(error), _)) => Err(service.broken("a terminal", &error)),
        Either::Right(_) => Err(service.broken("a terminal", &"whoever runs it does not answer")),
    }
}
