//! Making, rotating and using the owner's key. The private file is written before the list names its key: a crash in between
//! leaves a key that the list gets to know when it is next used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_domain::{Runtime, Secret};
use windlass_engine::Keyring;
use windlass_policy::approve::{OwnerKey, PublicKeys};

use super::list::{KnownKey, read_list, with_current, write_list};
use super::private_files::{Kind, Refused, hold, read, replace};

#[derive(Clone)]
pub struct FileKeyring {
    folder: PathBuf,
    runtime: Arc<dyn Runtime>,
}

impl FileKeyring {
    pub fn new(data_dir: &Path, runtime: Arc<dyn Runtime>) -> Self {
        Self { folder: data_dir.join("keys"), runtime }
    }

    /// The first key. None: there is one already, and it stays.
    pub fn init(&self) -> Result<Option<KnownKey>, Refused> {
        let _held = hold(&self.folder)?;
        match self.current()? {
            Some(_) => Ok(None),
            None => self.make().map(|(_, known)| Some(known)),
        }
    }

    /// A new key in place of the current one, whose public half stays. None: there was no key.
    pub fn rotate(&self) -> Result<Option<KnownKey>, Refused> {
        let _held = hold(&self.folder)?;
        match self.current()? {
            Some(_) => self.make().map(|(_, known)| Some(known)),
            None => Ok(None),
        }
    }

    /// The owner's key, made when it is first used.
    pub fn owner(&self) -> Result<OwnerKey, Refused> {
        let _held = hold(&self.folder)?;
        let Some(key) = self.current()? else { return self.make().map(|(key, _)| key) };
        let list = read_list(&self.list_path())?;
        let is_current = |known: &KnownKey| known.key_id == key.key_id() && known.retired_at.is_none();
        if !list.iter().any(is_current) {
            write_list(&self.list_path(), &with_current(list, &key, self.runtime.wall()))?;
        }
        Ok(key)
    }

    /// Every key there ever was, oldest first.
    pub fn list(&self) -> Result<Vec<KnownKey>, Refused> {
        read_list(&self.list_path())
    }

    fn owner_path(&self) -> PathBuf {
        self.folder.join("owner")
    }

    fn list_path(&self) -> PathBuf {
        self.folder.join("public.json")
    }

    fn current(&self) -> Result<Option<OwnerKey>, Refused> {
        let path = self.owner_path();
        let Some(bytes) = read(&path, Kind::Secret)? else { return Ok(None) };
        let broken = || {
            let advice = "put it back from a copy, or move it away and make another with `windlass keys init`";
            Refused::new(&path, "it holds no private key (64 hex digits)", advice)
        };
        let text = String::from_utf8(bytes).map_err(|_| broken())?;
        OwnerKey::read(&Secret::new(text)).map(Some).map_err(|_| broken())
    }

    fn make(&self) -> Result<(OwnerKey, KnownKey), Refused> {
        // A list that cannot be read is said before there is a key that it lacks.
        let list = read_list(&self.list_path())?;
        let mut random = [0; 32];
        random[..16].copy_from_slice(&self.runtime.random().to_ne_bytes());
        random[16..].copy_from_slice(&self.runtime.random().to_ne_bytes());
        let key = OwnerKey::new(&random);
        replace(&self.owner_path(), format!("{}\n", key.reveal().expose()).as_bytes())?;
        let list = with_current(list, &key, self.runtime.wall());
        write_list(&self.list_path(), &list)?;
        let known = list.into_iter().find(|known| known.key_id == key.key_id()).expect("it was just put there");
        Ok((key, known))
    }
}

impl Keyring for FileKeyring {
    fn public_keys(&self) -> Result<PublicKeys, String> {
        let mut keys = PublicKeys::default();
        for known in self.list().map_err(|refused| refused.to_string())? {
            let added = match known.retired_at {
                None => keys.add(known.public.as_bytes()),
                Some(at) => keys.add_retired(known.public.as_bytes(), at),
            };
            added.map_err(|error| format!("the key {}: {error}", known.key_id))?;
        }
        Ok(keys)
    }
}
