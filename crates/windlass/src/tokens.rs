//! The tokens of `windlass serve`, as files below the data directory: `token`, which is this user's own and good for everything, and
//! `tokens/named.json` with those of others, of which only digests are kept. A server looks at the files again whenever they
//! change, so that what is taken back is good for nothing at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use windlass_api::Scope;
use windlass_domain::{Runtime, Tenant, Wall};
use windlass_server::Stamp;
use windlass_server::auth::{TokenRecord, fingerprint};
use windlass_server::port::{Journal, TokenBook};

use crate::exit::WrongUse;
use crate::keys::{Kind, Refused, hold, read, replace};

pub const LONGEST_NAME: usize = 64;

/// Whether it can be the name of a token or of its tenant.
pub fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@');
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) && !name.starts_with('.')
}

/// A token as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedToken {
    pub name: String,
    pub tenant: String,
    pub scopes: BTreeSet<Scope>,
    pub created_at: Wall,
    pub expires_at: Option<Wall>,
    /// In hexadecimal digits.
    sha256: String,
}

#[derive(Clone)]
pub struct FileTokens {
    data_dir: PathBuf,
    /// Whoever has this user's own token.
    user: String,
    known: Arc<Mutex<Known>>,
    /// Hears what is wrong with the files.
    journal: Option<Arc<dyn Journal>>,
}

#[derive(Default)]
struct Known {
    stamps: [Option<Stamp>; 2],
    tokens: Arc<Vec<TokenRecord>>,
}

impl FileTokens {
    pub fn new(data_dir: &Path, user: &str) -> Self {
        Self { data_dir: data_dir.to_owned(), user: user.to_owned(), known: Arc::default(), journal: None }
    }

    #[must_use]
    pub fn telling(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    pub fn own_path(&self) -> PathBuf {
        self.data_dir.join("token")
    }

    fn folder(&self) -> PathBuf {
        self.data_dir.join("tokens")
    }

    fn named_path(&self) -> PathBuf {
        self.folder().join("named.json")
    }

    /// Makes this user's own token if there is none yet.
    pub fn ensure_own(&self, runtime: &dyn Runtime) -> Result<(), Refused> {
        let _held = hold(&self.folder())?;
        match self.own()? {
            Some(_) => Ok(()),
            None => replace(&self.own_path(), format!("{}\n", new_token(runtime)).as_bytes()),
        }
    }

    fn own(&self) -> Result<Option<String>, Refused> {
        let path = self.own_path();
        let Some(bytes) = read(&path, Kind::Secret)? else { return Ok(None) };
        let advice = "move it away: `windlass serve` makes another";
        let text = String::from_utf8(bytes).map_err(|_| Refused::new(&path, "it holds no token", advice))?;
        let text = text.trim();
        match text.len() >= LEAST {
            true => Ok(Some(text.to_owned())),
            false => Err(Refused::new(&path, format!("it holds no token of at least {LEAST} characters"), advice)),
        }
    }

    /// What keeps this user's own token from being read, if anything does.
    pub fn objection(&self) -> Option<Refused> {
        self.own().err()
    }

    pub fn named(&self) -> Result<Vec<NamedToken>, Refused> {
        let path = self.named_path();
        let Some(bytes) = read(&path, Kind::Secret)? else { return Ok(Vec::new()) };
        let advice = "put it back from a copy, or move it away and make the tokens anew with `windlass token add`";
        serde_json::from_slice(&bytes)
            .map_err(|error| Refused::new(&path, format!("it cannot be read: {error}"), advice))
    }

    /// What whoever it is for must be told, this once.
    pub fn add(&self, wanted: Wanted, runtime: &dyn Runtime) -> Result<String, WrongUse> {
        let _held = hold(&self.folder()).map_err(WrongUse::from)?;
        let mut named = self.named()?;
        if named.iter().any(|token| token.name == wanted.name) {
            return Err(WrongUse::new(format!("there is a token `{}` already", wanted.name)).hint(format!(
                "take it back with `windlass token revoke {}`, or give this one another name",
                wanted.name
            )));
        }
        let token = new_token(runtime);
        let Wanted { name, tenant, scopes, expires_at } = wanted;
        let sha256 = hex(&fingerprint(&token));
        named.push(NamedToken { name, tenant, scopes, created_at: runtime.wall(), expires_at, sha256 });
        self.write(&named)?;
        Ok(token)
    }

    pub fn revoke(&self, name: &str) -> Result<(), WrongUse> {
        let _held = hold(&self.folder()).map_err(WrongUse::from)?;
        let mut named = self.named()?;
        let before = named.len();
        named.retain(|token| token.name != name);
        if named.len() == before {
            return Err(WrongUse::new(format!("there is no token `{name}`")).hint("`windlass token list` shows them"));
        }
        Ok(self.write(&named)?)
    }

    fn write(&self, named: &[NamedToken]) -> Result<(), Refused> {
        let path = self.named_path();
        let written = serde_json::to_vec_pretty(named)
            .map_err(|error| Refused::new(&path, error.to_string(), "this is a bug of ours"))?;
        replace(&path, &written)
    }

    /// All of them; what cannot be read is good for nothing, and said to be so.
    fn read_all(&self) -> Vec<TokenRecord> {
        let own = self.readable(self.own()).flatten().map(|token| TokenRecord {
            name: self.user.clone(),
            tenant: Tenant::local(),
            scopes: Scope::ALL.into(),
            expires_at: None,
            fingerprint: fingerprint(&token),
        });
        let named = self.readable(self.named()).into_iter().flatten().filter_map(|token| {
            let fingerprint = from_hex(&token.sha256)?;
            let NamedToken { name, tenant, scopes, expires_at, .. } = token;
            Some(TokenRecord { name, tenant: Tenant::new(tenant), scopes, expires_at, fingerprint })
        });
        own.into_iter().chain(named).collect()
    }

    fn readable<T>(&self, read: Result<T, Refused>) -> Option<T> {
        if let (Err(refused), Some(journal)) = (&read, &self.journal) {
            let Refused { path, problem, advice } = refused;
            journal.trouble(&format!("{}: {problem}; what it says of tokens does not hold: {advice}", path.display()));
        }
        read.ok()
    }
}

/// What a token is to be.
pub struct Wanted {
    pub name: String,
    pub tenant: String,
    pub scopes: BTreeSet<Scope>,
    pub expires_at: Option<Wall>,
}

impl TokenBook for FileTokens {
    fn tokens(&self) -> Arc<Vec<TokenRecord>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = [Stamp::of(&self.own_path()), Stamp::of(&self.named_path())];
        if known.stamps != stamps {
            *known = Known { stamps, tokens: Arc::new(self.read_all()) };
        }
        Arc::clone(&known.tokens)
    }
}

/// What somebody put into the file themselves must not be guessed either.
const LEAST: usize = 32;

/// 256 bits.
fn new_token(runtime: &dyn Runtime) -> String {
    format!("wl_{:032x}{:032x}", runtime.random(), runtime.random())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(digits: &str) -> Option<[u8; 32]> {
    let pairs = digits.as_bytes().chunks_exact(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::create_private;

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Journal for Told {
        fn trouble(&self, what: &str) {
            self.0.lock().expect("one thread").push(what.to_owned());
        }
    }

    #[test]
    fn a_damaged_file_of_others_does_not_lock_its_owner_out() {
        let folder = tempfile::tempdir().unwrap();
        let (data, own) = (folder.path().join("data"), "a".repeat(64));
        create_private(&data.join("tokens")).unwrap();
        create_private(&data).unwrap();
        replace(&data.join("token"), own.as_bytes()).unwrap();
        replace(&data.join("tokens/named.json"), b"[{\"name\": ").unwrap();
        let told = Arc::new(Told::default());
        let book = FileTokens::new(&data, "me").telling(Arc::<Told>::clone(&told));
        for _ in 0..2 {
            let fingerprints: Vec<_> = book.tokens().iter().map(|token| token.fingerprint).collect();
            assert_eq!(fingerprints, [fingerprint(&own)]);
        }
        let told = told.0.lock().unwrap();
        assert!(
            matches!(&told[..], [once] if once.contains("named.json") && once.contains("windlass token add")),
            "{told:?}"
        );
    }
}
