//! Which store this machine works on: the database in the data directory, or the PostgreSQL that `WINDLASS_STORE_URL` or
//! `[store] url` names. An address that cannot be read is never taken for none: whoever looked into the data directory instead
//! would find nothing, and might begin anew.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use windlass_domain::{Runtime, Secret};
use windlass_store::Store;
use windlass_store::postgres::{self, Address, PostgresStore};
use windlass_store::sqlite::{self, SqliteStore};

use crate::config::{Config, postgres_password};
use crate::exit::WrongUse;
use crate::wiring::Load;

const VARIABLE: &str = "WINDLASS_STORE_URL";

/// `[store]` in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    pub url: Option<StoreUrl>,
}

impl StoreConfig {
    pub fn objection(&self) -> Option<String> {
        Address::parse(self.url.as_ref()?.0.trim()).err().map(|bad| format!("`url`: {bad}"))
    }
}

/// It may hold a password, and is not shown.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct StoreUrl(String);

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    DataDirectory,
    Postgres(Box<Address>),
    /// Somewhere else, but nobody can tell where.
    Unreadable(String),
}

impl StoreChoice {
    /// The variable's word goes before the file's. `file` is what `windlass.toml` holds, whether or not it is all right.
    pub fn read(variable: Option<&str>, file: Option<&str>) -> Self {
        let in_file = file.and_then(|text| match toml::from_str::<toml::Table>(text) {
            Ok(table) => {
                let url = table.get("store")?.get("url")?.as_str().unwrap_or_default().to_owned();
                Some(("`[store] url` in windlass.toml", url))
            }
            // What cannot be read at all may name a store.
            Err(_) => text.contains("[store]").then(|| ("`[store] url` in windlass.toml", String::new())),
        });
        let said = variable.map(|url| (VARIABLE, url.to_owned())).or(in_file);
        match said.map(|(place, url)| (place, Address::parse(url.trim()))) {
            None => Self::DataDirectory,
            Some((_, Ok(address))) => Self::Postgres(Box::new(address)),
            Some((place, Err(bad))) => Self::Unreadable(format!("{place}: {bad}")),
        }
    }

    pub fn objection(&self) -> Option<WrongUse> {
        match self {
            Self::DataDirectory | Self::Postgres(_) => None,
            Self::Unreadable(what) => Some(WrongUse::new(what.clone())),
        }
    }

    /// What must never be written anywhere.
    pub fn password(&self) -> Option<Secret> {
        match self {
            Self::Postgres(address) => address.password().map(Secret::new),
            Self::DataDirectory | Self::Unreadable(_) => None,
        }
    }
}

pub async fn open(config: &Config, load: Load, runtime: &Arc<dyn Runtime>) -> anyhow::Result<Arc<dyn Store>> {
    let address = match &config.store {
        StoreChoice::DataDirectory => {
            let options = sqlite::Options::new(&config.data_dir);
            was_moved(&options).map_or(Ok(()), Err)?;
            let options = match load {
                Load::OneTask => options.on_callers_thread(),
                Load::ManyTasks => options,
            };
            return Ok(Arc::new(SqliteStore::open(options, Arc::clone(runtime))?));
        }
        StoreChoice::Postgres(address) => with_password((**address).clone()),
        StoreChoice::Unreadable(what) => return Err(WrongUse::new(what.clone()).into()),
    };
    Ok(Arc::new(PostgresStore::open(postgres::Options::new(address), Arc::clone(runtime)).await?))
}

/// What was moved is not begun anew because nobody said where it is now.
pub fn was_moved(options: &sqlite::Options) -> Option<WrongUse> {
    let (database, moved) = (options.file(), options.moved());
    if database.exists() || !moved.exists() {
        return None;
    }
    let what = format!("this data directory's database was moved to PostgreSQL; {} is what it was", moved.display());
    Some(WrongUse::new(what).hint(format!(
        "set `[store] url` in windlass.toml, or {VARIABLE}, to where it is now; to begin anew with an empty database, delete \
         windlass.db.moved"
    )))
}

pub fn with_password(address: Address) -> Address {
    let password = postgres_password();
    address.or_password(password.as_ref().map(Secret::expose))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variable: Option<&str>, file: Option<&str>, expect: &str) {
        let chosen = match StoreChoice::read(variable, file) {
            StoreChoice::DataDirectory => "data directory".to_owned(),
            StoreChoice::Postgres(address) => address.place().to_owned(),
            StoreChoice::Unreadable(_) => "unreadable".to_owned(),
        };
        assert_eq!(chosen, expect, "{variable:?} {file:?}");
    }

    #[test]
    fn the_variable_goes_before_the_file_and_what_cannot_be_read_is_not_nothing() {
        let file = "[store]\nurl = \"postgres://db.example/windlass\"\n";
        check(None, None, "data directory");
        check(None, Some("[approvals]\nlifetime_seconds = 1"), "data directory");
        check(None, Some(file), "postgres://db.example:5432/windlass");
        check(Some("postgres://other.example/w"), Some(file), "postgres://other.example:5432/w");
        check(Some("mysql://other.example/w"), Some(file), "unreadable");
        check(None, Some("[store]\nurl = 7"), "unreadable");
        // Wrong elsewhere, or altogether.
        check(None, Some(&format!("nonsense = 1\n{file}")), "postgres://db.example:5432/windlass");
        check(None, Some(&format!("= =\n{file}")), "unreadable");
        check(None, Some("= ="), "data directory");
    }

    #[test]
    fn a_password_is_a_secret_and_in_no_word_of_ours() {
        let url = "postgres://me:tellnobody@db.example/windlass";
        let chosen = StoreChoice::read(Some(url), None);
        assert_eq!(chosen.password().map(|secret| secret.expose().to_owned()).as_deref(), Some("tellnobody"));
        assert!(!format!("{chosen:?}").contains("tellnobody"));
        let wrong = StoreChoice::read(Some("postgres://me:tellnobody@db.example:x/windlass"), None);
        let said = wrong.objection().expect("it is wrong").message;
        assert!(said.contains("WINDLASS_STORE_URL") && !said.contains("tellnobody"), "{said}");
        let config: StoreConfig = toml::from_str(&format!("url = \"{url}\"")).expect("it is read");
        assert!(!format!("{config:?}").contains("tellnobody"));
    }
}
