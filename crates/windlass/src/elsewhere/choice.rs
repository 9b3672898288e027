//! Whether a command is for a server, which, and by which token: what was typed before what the environment says, and that before
//! `[client]` in `windlass.toml`. A token stands in a variable or in a file that nobody else may read, never on the command line, where
//! everybody on the machine sees it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use windlass_api::client::{Address, Client, Pause, Surroundings, Token};
use windlass_domain::Runtime;
use windlass_runtime::TokioRuntime;

use super::far::{Far, explained};
use crate::arguments::Elsewhere;
use crate::config::{ClientSaid, client_said};
use crate::exit::WrongUse;

const LONGEST_TOKEN: u64 = 4_096;
const WHERE_TOKENS_STAND: &str = "set WINDLASS_TOKEN, or name a file of mode 0600 that holds it with --token-file";

/// `[client]` in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientConfig {
    pub server: Option<String>,
    pub token_file: Option<PathBuf>,
}

/// None: the command is for this machine's data directory.
pub fn far(typed: &Elsewhere) -> anyhow::Result<Option<Far>> {
    let said = client_said();
    let Some(server) = typed.server.clone().or_else(|| said.server.clone()) else { return Ok(None) };
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let token = token(typed.token_file.as_deref(), said)?;
    let address = Address::parse(&server).map_err(explained)?;
    let token = Token::new(&token).map_err(explained)?;
    let around = Arc::new(Around(Arc::clone(&runtime)));
    Ok(Some(Far { client: Client::new(address, Some(token), around).map_err(explained)?, runtime }))
}

fn token(typed: Option<&Path>, said: ClientSaid) -> Result<String, WrongUse> {
    match (typed, said.token, said.token_file) {
        (Some(file), ..) => read(file),
        (None, Some(token), _) => Ok(token),
        (None, None, Some(file)) => read(&file),
        (None, None, None) => Err(WrongUse::new("there is no token for the server").hint(WHERE_TOKENS_STAND)),
    }
}

fn read(file: &Path) -> Result<String, WrongUse> {
    let path = file.display();
    let unreadable = |why: String| WrongUse::new(format!("{path}: {why}")).hint(WHERE_TOKENS_STAND);
    let metadata = file.metadata().map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > LONGEST_TOKEN {
        return Err(unreadable("this is no file with a token".to_owned()));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(WrongUse::new(format!("{path}: others may read this token"))
            .hint(format!("chmod 600 {path}; and have it taken back if somebody did: windlass token revoke NAME")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    match text.trim() {
        "" => Err(unreadable("it is empty".to_owned())),
        token => Ok(token.to_owned()),
    }
}

/// What the client takes from this program.
struct Around(Arc<dyn Runtime>);

impl Surroundings for Around {
    fn pause(&self, how_long: Duration) -> Pause {
        Box::pin(self.0.sleep(how_long))
    }

    fn fresh_key(&self) -> String {
        format!("{:032x}", self.0.random())
    }
}
