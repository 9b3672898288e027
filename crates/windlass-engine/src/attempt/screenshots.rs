//! What browsers were seen to show, as evidence. A call's pictures are blobs beside its result; where the trace is written they are
//! put into files as well, outside the agent's reach, for whoever looks at the result without Windlass.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{EvidenceRef, EvidenceType, Image};

use super::driver::Driver;

/// The tool whose pictures are screenshots.
const BROWSER: &str = "browser";
/// Of a run that takes one after every step, the newest.
const MOST: usize = 200;

pub fn screenshots(event: &ExecutionEvent) -> &[Image] {
    match event {
        ExecutionEvent::ToolFinished(finished) if finished.tool == BROWSER => &finished.images,
        _ => &[],
    }
}

impl Driver {
    /// What cannot be put there is said and is no part of the result, as with the trace.
    pub(super) async fn keep_screenshots(&mut self, shown: Vec<Image>) {
        let mut kept: Vec<EvidenceRef> = Vec::new();
        for image in shown.into_iter().rev() {
            let uri = format!("file://{}", self.place(&image).display());
            if kept.len() == MOST || kept.iter().any(|evidence| evidence.uri == uri) {
                continue;
            }
            match self.keep_screenshot(&image).await {
                Ok(()) => kept.push(evidence(&image, uri)),
                Err(detail) => self.watcher.trouble(&format!("a screenshot could not be kept: {detail}")),
            }
        }
        kept.reverse();
        self.screenshots = kept;
    }

    async fn keep_screenshot(&self, image: &Image) -> Result<(), String> {
        let shared = &self.engine.shared;
        let path = self.place(image);
        if path.exists() {
            return Ok(());
        }
        let blob = shared.store.blob(&shared.tenant, image.digest).await.map_err(|error| error.to_string())?;
        let bytes = blob.ok_or("it is not in the store")?.bytes;
        shared.blocking(move || write(&path, &bytes)).await.map_err(|error| error.to_string())
    }

    /// By its content: the same picture is one file, and no other is ever in its place.
    fn place(&self, image: &Image) -> PathBuf {
        self.engine.shared.data_dir.join("evidence").join(self.task.to_string()).join(format!("{}.png", image.digest))
    }
}

fn evidence(image: &Image, uri: String) -> EvidenceRef {
    let Image { name, width, height, digest, .. } = image;
    let description = Some(format!("what the browser showed, {width} × {height} pixels; for the agent {name}"));
    EvidenceRef { ref_id: digest.to_string(), kind: EvidenceType::Screenshot, uri, description }
}

/// For its owner alone, and whole.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().expect("evidence stands in a folder");
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let unfinished = path.with_extension("png.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    // What has its name is whole, after a power cut too.
    file.sync_all()?;
    std::fs::rename(&unfinished, path)
}
