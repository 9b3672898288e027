//! A server as an execution uses it: begun when a tool of it is first called, begun anew when it has died, and asked before
//! every call whether the tool is still what the operator accepted. A server need not announce that it changed a definition,
//! so that announcements are not waited for.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{Either, select};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};
use windlass_domain::{BoxFuture, CancelSignal, Runtime};

use crate::content::Answer;
use crate::definition::{Definition, Listing};
use crate::error::Error;
use crate::limits::Limits;
use crate::session::Session;
use crate::transport::Transport;

/// Starts the program, or knows the address.
pub trait Connector: Send + Sync {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>>;
}

pub struct Server {
    name: String,
    connector: Box<dyn Connector>,
    pinned: BTreeMap<String, Definition>,
    runtime: Arc<dyn Runtime>,
    limits: Limits,
    /// One question at a time.
    session: Mutex<Option<Session>>,
}

impl Server {
    pub fn new(
        name: impl Into<String>,
        connector: Box<dyn Connector>,
        pinned: BTreeMap<String, Definition>,
        runtime: Arc<dyn Runtime>,
        limits: Limits,
    ) -> Self {
        Self { name: name.into(), connector, pinned, runtime, limits, session: Mutex::new(None) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the operator accepted, which is what an agent may be shown.
    pub const fn pinned(&self) -> &BTreeMap<String, Definition> {
        &self.pinned
    }

    /// What the server has now, accepted or not.
    pub async fn list(&self, cancel: &CancelSignal) -> Result<Listing, Error> {
        let mut slot = self.slot(cancel).await?;
        self.fresh(&mut slot, cancel).await
    }

    /// Calls a tool that is what was accepted, at most once.
    pub async fn call(&self, tool: &str, arguments: &Value, cancel: &CancelSignal) -> Result<Answer, Error> {
        let mut slot = self.slot(cancel).await?;
        let listing = self.fresh(&mut slot, cancel).await.map_err(before_the_call)?;
        self.check(tool, &listing)?;
        let Some(session) = slot.as_mut() else {
            return Err(Error::Unreachable("there is no session".to_owned()));
        };
        let answered = session.call(tool, arguments, cancel).await;
        let is_over = session.is_torn() || answered.as_ref().is_err_and(Error::ends_session);
        if is_over {
            *slot = None;
        }
        answered
    }

    async fn slot(&self, cancel: &CancelSignal) -> Result<MutexGuard<'_, Option<Session>>, Error> {
        match select(Box::pin(self.session.lock()), cancel.wait()).await {
            Either::Left((slot, _)) => Ok(slot),
            Either::Right((stop, _)) => Err(Error::Stopped(stop)),
        }
    }

    fn check(&self, tool: &str, listing: &Listing) -> Result<(), Error> {
        let gone = || Error::Gone { tool: tool.to_owned() };
        let now = listing.tools.get(tool).ok_or_else(gone)?;
        match self.pinned.get(tool) {
            Some(pin) if pin.digest == now.digest => Ok(()),
            _ => Err(Error::Changed { tool: tool.to_owned() }),
        }
    }

    /// The list as it is now. What died since is begun anew, once.
    async fn fresh(&self, slot: &mut Option<Session>, cancel: &CancelSignal) -> Result<Listing, Error> {
        if let Some(mut session) = slot.take().filter(|session| !session.is_torn()) {
            match session.list(&self.name, cancel).await {
                Ok(listing) => {
                    *slot = Some(session);
                    return Ok(listing);
                }
                Err(error @ Error::Stopped(_)) => return Err(error),
                // It is dropped, and with it what is left of the server.
                Err(_) => {}
            }
        }
        let transport = self.connect(cancel).await?;
        let mut session = Session::open(transport, Arc::clone(&self.runtime), self.limits, cancel).await?;
        let listing = session.list(&self.name, cancel).await?;
        *slot = Some(session);
        Ok(listing)
    }

    async fn connect(&self, cancel: &CancelSignal) -> Result<Box<dyn Transport>, Error> {
        let within = self.limits.question;
        let ends = select(self.runtime.sleep(within), cancel.wait());
        match select(self.connector.connect(), ends).await {
            Either::Left((connected, _)) => connected.map_err(Error::Unreachable),
            Either::Right((Either::Left(_), _)) => {
                Err(Error::Unreachable(format!("it was not there within {} seconds", within.as_secs())))
            }
            Either::Right((Either::Right((stop, _)), _)) => Err(Error::Stopped(stop)),
        }
    }
}

/// Nothing was called yet, whatever went wrong.
fn before_the_call(error: Error) -> Error {
    match error {
        stopped @ Error::Stopped(_) => stopped,
        unreachable @ Error::Unreachable(_) => unreachable,
        other => Error::Unreachable(other.to_string()),
    }
}
