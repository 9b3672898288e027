//! How a session is opened by whoever speaks in it first.

use windlass_domain::CallerName;
use windlass_domain::coordinate::{Channel, LOCAL_USER, Origin};
use windlass_domain::session::{SessionOpened, Speaker};

pub(crate) struct Opening {
    pub user_id: String,
    pub channel: Channel,
    pub called: Option<CallerName>,
}

impl Opening {
    pub fn local() -> Self {
        Self { user_id: LOCAL_USER.to_owned(), channel: Channel::Cli, called: None }
    }

    pub fn by(origin: &Origin) -> Self {
        Self { user_id: origin.by.clone(), channel: origin.channel, called: None }
    }

    /// Who does is who speaks in it, then and later.
    pub fn speaker(&self) -> Speaker {
        Speaker { user_id: self.user_id.clone(), channel: self.channel }
    }

    pub fn opens(&self, workspace: String) -> SessionOpened {
        let Self { user_id, channel, called } = self;
        SessionOpened { workspace, user_id: user_id.clone(), channel: *channel, called: called.clone() }
    }
}
