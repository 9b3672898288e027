//! A server that commands are for, and what its answers mean to whoever typed one: their mistakes are told as mistakes, with what the
//! server says to do about them; what went wrong over there is told as a failure.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::json;
use windlass_api::client::{Client, Error};
use windlass_api::{CommandRequest, CommandTold, Problem, Scope};
use windlass_domain::Runtime;

use crate::commands::{Errand, drawing, shown};
use crate::exit::{Exit, WrongUse};
use crate::show::Sheet;

pub struct Far {
    pub client: Client,
    pub runtime: Arc<dyn Runtime>,
}

impl Far {
    pub async fn errand(&self, errand: Errand) -> anyhow::Result<Exit> {
        let drawing = drawing(&errand);
        shown(self.sheet(errand).await?, drawing)
    }

    pub async fn sheet(&self, errand: Errand) -> anyhow::Result<Sheet> {
        self.asked(errand).await.map_err(explained)
    }

    /// What it says to the program itself.
    pub async fn answer<A: DeserializeOwned>(&self, errand: Errand) -> Result<A, Error> {
        let (_, said) = self.asked(errand).await?.apart();
        serde_json::from_value(said.unwrap_or_default()).map_err(|error| self.another_version(&error.to_string()))
    }

    /// What is shown to people, and what the program itself must know of it.
    pub async fn shown_with<A: DeserializeOwned>(&self, errand: Errand) -> Result<(Sheet, Option<A>), Error> {
        let (shown, said) = self.asked(errand).await?.apart();
        let said = said.map(serde_json::from_value).transpose();
        Ok((shown, said.map_err(|error| self.another_version(&error.to_string()))?))
    }

    pub async fn asked(&self, errand: Errand) -> Result<Sheet, Error> {
        let path = match errand.scope() {
            Scope::Read => "/v1/commands/look",
            Scope::Write => "/v1/commands/ask",
            Scope::Approve => "/v1/commands/decide",
            Scope::Admin | Scope::Terminal => "/v1/commands/operate",
        };
        let request = CommandRequest { command: json!(errand) };
        let client = self.client.waiting(errand.patience());
        let told: CommandTold = match errand.looks() {
            true => client.look(path, &request).await?,
            false => client.post(path, &request).await?,
        };
        Sheet::heard(told.said, told.exit).ok_or_else(|| self.another_version("it says things that are not known here"))
    }

    pub fn another_version(&self, why: &str) -> Error {
        Error::NotWindlass {
            server: self.client.address().to_string(),
            why: format!("or one of another version: {why}"),
        }
    }
}

/// The user's mistakes apart from the network's and the server's.
pub fn explained(error: Error) -> anyhow::Error {
    let hint = match &error {
        Error::Refused(problem) => return refused(problem),
        Error::BadAddress(_) => "say it with --server, WINDLASS_SERVER or `[client] server` in windlass.toml",
        Error::Unencrypted(_) => {
            "use https://, or forward a port of this machine to it: ssh -L 7117:127.0.0.1:7117 HOST"
        }
        Error::BadToken => "copy the token once more: it is one line of letters and digits",
        Error::Untrusted { .. } => "SSL_CERT_FILE names a file with the authority that signed it, in PEM",
        Error::NotWindlass { .. } => "check the address and the port; `windlass serve` says where it listens",
        Error::Unreachable { .. } => {
            return anyhow::Error::from(error)
                .context("the server does not answer: is `windlass serve` running there?");
        }
        Error::Broken { .. } | Error::Slow { .. } | Error::TooLarge { .. } => return error.into(),
    };
    WrongUse::new(error.to_string()).hint(hint).into()
}

fn refused(problem: &Problem) -> anyhow::Error {
    let told = match problem.status {
        401 => WrongUse::new("the server does not take this token: it is wrong, expired or taken back").hint(
            "`windlass token add NAME` makes one there; set it as WINDLASS_TOKEN, or name its file with --token-file",
        ),
        403 if problem.code == "forbidden" => WrongUse::new(problem.detail.clone())
            .hint("the operator makes one there: windlass token add NAME --scope …"),
        413 => WrongUse::new(format!("this is more than the server takes at once: {}", problem.detail))
            .hint("send fewer or smaller files, or put them into the workspace"),
        400..=499 => problem.hint.iter().fold(WrongUse::new(problem.detail.clone()), WrongUse::hint),
        _ => {
            let hint = problem.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
            return anyhow::anyhow!("the server: {}{hint}", problem.detail);
        }
    };
    told.into()
}
