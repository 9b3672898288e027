//! Publishing a deliverable: the file as it is now is kept as a blob, so that what was delivered is what was shown,
//! whatever happens to the workspace afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_domain::{Deliverable, DeliverableType};
use windlass_workspace::{Root, WorkspacePath};

use crate::engine::Shared;

/// Text up to this size travels inside the result.
const INLINE_BYTES: usize = 16 * 1024;
/// Larger files stay in the workspace; a result is no place for a disk image.
const LARGEST_BYTES: u64 = 64 << 20;

/// The deliverable and its bytes, or the reason for the model why there is none.
pub async fn deliver(
    shared: &Arc<Shared>,
    folder: &Path,
    filepath: String,
    description: String,
    kind: DeliverableType,
) -> Result<(Deliverable, Vec<u8>), String> {
    let folder: PathBuf = folder.to_owned();
    let path = filepath.clone();
    let bytes = shared.blocking(move || read(&folder, &path)).await?;
    let content = (bytes.len() <= INLINE_BYTES)
        .then(|| String::from_utf8(bytes.clone()).ok())
        .flatten()
        .map(|text| shared.redactor.redact(&text).into_owned());
    let size_bytes = Some(bytes.len() as u64);
    Ok((Deliverable { filepath, description, kind, content, size_bytes }, bytes))
}

fn read(folder: &Path, filepath: &str) -> Result<Vec<u8>, String> {
    let root = Root::open(folder).map_err(|error| error.to_string())?;
    let path = WorkspacePath::parse(filepath).map_err(|error| error.to_string())?;
    root.read(&path, LARGEST_BYTES).map_err(|error| error.to_string())
}
