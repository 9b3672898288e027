//! On whose account something is done. What somebody outside asks for has an id: a commit that heeds it marks it as heeded, so that it is
//! refused the second time, and adds it to the records of its session, which puts it into an order with all others of that session.

use windlass_domain::coordinate::Trigger;
use windlass_domain::session::{SessionAction, SessionTriggered};
use windlass_domain::{SessionId, Taint};
use windlass_store::Marker;

use crate::Error;
use crate::asked::Asker;
use crate::engine::Engine;
use crate::host::Rider;

#[derive(Debug, Clone, Default)]
pub(crate) struct Mandate {
    once: Option<Marker>,
    heard: Option<(SessionId, SessionTriggered)>,
    asker: Asker,
}

impl Mandate {
    /// Nobody asks for it who could ask for the same again.
    pub fn own() -> Self {
        Self::default()
    }

    /// What the runtime does by itself.
    pub fn runtime() -> Self {
        Self { asker: Asker::Nobody, ..Self::default() }
    }

    pub const fn asker(&self) -> &Asker {
        &self.asker
    }

    /// `session`: the one whose records it joins.
    pub fn of(trigger: &Trigger, session: SessionId) -> Self {
        let kind = trigger.what.kind();
        let asker = Asker::Outside { by: trigger.origin.by.clone(), channel: trigger.origin.channel };
        let triggered = SessionTriggered {
            trigger_id: trigger.trigger_id.clone(),
            kind,
            by: trigger.origin.by.clone(),
            channel: trigger.origin.channel,
        };
        Self {
            once: Some(marker(kind.as_str(), trigger.trigger_id.as_str())),
            heard: Some((session, triggered)),
            asker,
        }
    }

    pub fn once(&self) -> Vec<Marker> {
        self.once.clone().into_iter().collect()
    }

    pub fn triggered(&self) -> Option<SessionTriggered> {
        self.heard.as_ref().map(|(_, triggered)| triggered.clone())
    }

    /// What a commit that heeds it carries. Read anew for each try: another may have written to the session.
    pub async fn rider(&self, engine: &Engine) -> Result<Rider, Error> {
        let shared = &engine.shared;
        let mut rider = Rider { processed: self.once(), ..Rider::default() };
        if let Some((session, triggered)) = &self.heard {
            let mut journal = engine.session_journal(*session).await?;
            // A task that was begun without one has a session that nobody opened.
            if journal.state.workspace.is_some() {
                let heard = [SessionAction::Trigger(triggered.clone())];
                journal.ride(&mut rider, heard, &shared.redactor, Taint::Auth, shared.wall())?;
            }
        }
        Ok(rider)
    }
}

pub(super) fn marker(kind: &str, id: &str) -> Marker {
    Marker { scope: format!("trigger/{kind}"), key: id.to_owned() }
}
