//! Writing an agent's words where its parent wanted them (`write_output_to`). What becomes of the file is in the journal before
//! it is changed, with its digest before and after, so that whoever goes on after a crash neither writes twice nor over what
//! somebody else has made of it meanwhile; and its label is there before it is.

use windlass_domain::execution::ExecutionState;
use windlass_domain::{Digest, Probe, Taint};
use windlass_workspace::{Error, Root, SKILL_FOLDERS, WorkspacePath};

use super::child_told::last_words;
use super::execution_host::ExecutionHost;

impl ExecutionHost {
    /// What the file will be, or why it will not; nothing where no file is wanted.
    pub(super) async fn intend_output(
        &self,
        wanted: Option<&str>,
        child: &ExecutionState,
    ) -> Result<Option<Probe>, String> {
        let Some(wanted) = wanted else { return Ok(None) };
        let (folder, wanted) = (self.folder.clone(), wanted.to_owned());
        let look = move || {
            let root = Root::open(&folder)?;
            let path = WorkspacePath::parse(wanted)?;
            root.check_write(&path)?;
            let path = root.real_path(&path)?;
            Ok((root.digest(&path)?, path))
        };
        let looked = self.shared.blocking(look).await.map_err(|error: Error| error.to_string());
        let (before, path) = looked?;
        if child.taint == Taint::External && SKILL_FOLDERS.iter().any(|folder| path.is_below(folder)) {
            return Err("it would be a skill, and the agent has read external content; write it yourself".to_owned());
        }
        let after = Digest::of(last_words(child).as_bytes());
        Ok(Some(Probe { path: path.to_record(), before, after, result: path.absolute() }))
    }

    /// Where it stands now, or why it does not.
    pub(super) async fn write_output(&self, probe: Probe, child: &ExecutionState) -> Result<String, String> {
        let (folder, words) = (self.folder.clone(), last_words(child).to_owned());
        let write = move || {
            let root = Root::open(&folder)?;
            let path = WorkspacePath::parse(&probe.path)?;
            // What a write that was cut off left beside the file.
            let _gone = root.sweep(&path);
            match root.digest(&path)? {
                now if now == Some(probe.after) => Ok(Some(probe.result)),
                now if now == probe.before => root.write(&path, words.as_bytes()).map(|()| Some(probe.result)),
                _ => Ok(None),
            }
        };
        let written = self.shared.blocking(write).await.map_err(|error: Error| error.to_string())?;
        written.ok_or_else(|| "the file was changed meanwhile".to_owned())
    }
}
