//! One entry, and what the engine makes of it.

use windlass_engine::{Error, Means};

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
    let key = match (parts.key)() {
        Ok(key) => key,
        Err(why) => return Heeding::Later(format!("nobody can sign for it: {why}")),
    };
    let heeded = match read {
        Read::Command(order) => parts.engine.command(&order, Some(&key)).await.map(drop),
        Read::Trigger(trigger) => {
            let means = Means { template: Some(&parts.talk), key: parts.approvals.then_some(&key) };
            parts.engine.trigger(&trigger, means).await.map(drop)
        }
    };
    match heeded {
        Ok(()) => Heeding::Done,
        Err(error @ Error::Workspace(_)) => Heeding::Perhaps(Refused::from(&error)),
        Err(error) if error.may_pass() => Heeding::Later(error.to_string()),
        Err(error) => Heeding::Never(Refused::from(&error)),
    }
}
