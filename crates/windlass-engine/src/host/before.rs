//! What stands now in the file that a call would change, kept so that whoever is asked sees what would go and what would come. It binds
//! nothing: the file's digest on the card does.

use windlass_domain::{Digest, Effect, Refused};
use windlass_workspace::{Root, WorkspacePath};

use super::execution_host::ExecutionHost;
use super::seen::Wanted;

/// More than this nobody reads on a card.
const MOST_BYTES: u64 = 1 << 20;

impl ExecutionHost {
    /// By which blob it is read; none where there is no file, or one that is too large.
    pub(super) async fn before(&self, wanted: &Wanted<'_>) -> Result<Option<Digest>, Refused> {
        let Effect::Probe(probe) = &wanted.prepared.effect else { return Ok(None) };
        let (folder, path) = (wanted.folder.to_owned(), probe.path.clone());
        let read = move || {
            let path = WorkspacePath::parse(&path).ok()?;
            Root::open(&folder).ok()?.read(&path, MOST_BYTES).ok()
        };
        match self.shared.blocking(read).await {
            // It has changed since: what is shown must be what is bound.
            Some(bytes) if Some(Digest::of(&bytes)) == probe.before => Ok(Some(self.keep(bytes).await?.digest)),
            _ => Ok(None),
        }
    }
}
