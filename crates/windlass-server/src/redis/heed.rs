//! One entry, and what the engine makes of it.

use windlass_domain::coordinate::Triggered;
use windlass_engine::{Error, Means, OwnerKey};

use super::door::RedisParts;
use super::entry::{Inlet, Read, read_entry};
use super::notice::Refused;

pub enum Heeding {
    /// Now, or when it came the first time.
    Done,
    /// What is wrong is not the entry.
    Later(String),
    /// It is the folder that it would work in: that may be mended soon, or never.
    Perhaps(Refused),
    Never(Refused),
}

pub async fn heed(parts: &RedisParts, inlet: Inlet, entry: &str, json: &str) -> Heeding {
    let read = match read_entry(inlet, entry, json, &parts.direct) {
        Ok(read) => read,
        Err(why) => return Heeding::Never(Refused::unreadable(why)),
    };
    let key = match key_for(parts, &read).await {
        Ok(Ok(key)) => key,
        Ok(Err(why)) => return Heeding::Later(format!("nobody can sign for it: {why}")),
        Err(error) => return heeding(Err(error)),
    };
    heeding(match read {
        Read::Command(order) => parts.engine.command(&order, key.as_ref()).await.map(drop),
        Read::Trigger(trigger) => {
            let means = Means { template: Some(&parts.talk), key: key.as_ref() };
            parts.engine.trigger(&trigger, means).await.map(drop)
        }
    })
}

/// Asked for only where something is signed with it: what is wrong with it is in the way of nothing else.
async fn key_for(parts: &RedisParts, read: &Read) -> Result<Result<Option<OwnerKey>, String>, Error> {
    let is_signed = match read {
        Read::Command(_) => true,
        Read::Trigger(trigger) => match &trigger.what {
            Triggered::HitlResponse { request_id, .. } => parts.approvals && parts.engine.is_card(request_id).await?,
            _ => false,
        },
    };
    Ok(is_signed.then(|| (parts.key)()).transpose())
}

fn heeding(heeded: Result<(), Error>) -> Heeding {
    match heeded {
        Ok(()) => Heeding::Done,
        Err(error @ Error::Workspace(_)) => Heeding::Perhaps(Refused::from(&error)),
        Err(error) if error.may_pass() => Heeding::Later(error.to_string()),
        Err(error) => Heeding::Never(Refused::from(&error)),
    }
}
