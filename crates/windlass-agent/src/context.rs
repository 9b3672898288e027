//! The unchanging head of every prompt: system prompt and tool definitions, and the task message that opens the
//! transcript. Built once, kept as blobs, and loaded from there ever after, so that a run that goes on tomorrow with a
//! newer binary still asks with the very same bytes. Executions that are under way at the same time share one copy of what
//! is the same for them: tool definitions, taken apart, are most of what a waiting agent would hold.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_domain::execution::{ContextRef, Launch, RunnerCommand};
use windlass_domain::pattern::Pattern;
use windlass_domain::{Attachment, Host, Refused, Role, ToolSpec};
use windlass_tools::Toolset;
use windlass_tools::skills::{Offered, Source};

use crate::prompt::{prompt_for, tactician_prompt, task_message};

/// How much of a description every prompt has room for; `list_skills` has the rest.
const LONGEST_DESCRIPTION: usize = 300;

static IN_USE: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

#[derive(Debug)]
pub(crate) struct Context {
    pub system: String,
    pub tools: Vec<ToolSpec>,
    pub named: ContextRef,
}

impl Context {
    pub async fn load_or_build(host: &dyn Host, launch: &Launch, tools: &Toolset) -> Result<Arc<Self>, Refused> {
        let (known, is_told) = {
            let state = host.state();
            (state.context, state.is_opened())
        };
        if !is_told {
            let images = launch.task.attachments.iter().filter_map(|attachment| match attachment {
                Attachment::Image(image) => Some(image.clone()),
                Attachment::Text { .. } => None,
            });
            let leading = leading(host).filter(|pattern| pattern.leads());
            let content = task_message(launch.role, &launch.task, leading.as_deref());
            host.stage(vec![RunnerCommand::Open { content, images: images.collect() }])?;
        }
        match known {
            Some(named) => Self::load(host, named).await,
            None => Self::build(host, launch, tools).await,
        }
    }

    async fn build(host: &dyn Host, launch: &Launch, tools: &Toolset) -> Result<Arc<Self>, Refused> {
        let (prompt, tools) = rendered(launch, leading(host).as_deref(), tools);
        let system = host.blob_put(prompt).await?;
        let tools = host.blob_put(tools).await?;
        let named = ContextRef { system: system.digest, tools: tools.digest };
        // As it was kept, which is what a run that goes on tomorrow will read.
        Self::read(named, system.bytes, &tools.bytes)
    }

    async fn load(host: &dyn Host, named: ContextRef) -> Result<Arc<Self>, Refused> {
        let system = host.blob_get(named.system).await?;
        let tools = host.blob_get(named.tools).await?;
        Self::read(named, system, &tools)
    }

    /// What the digests in `named` stand for, or the same where another execution has it already.
    fn read(named: ContextRef, system: Vec<u8>, tools: &[u8]) -> Result<Arc<Self>, Refused> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|held| held.strong_count() > 0);
        if let Some(held) = in_use.iter().filter_map(Weak::upgrade).find(|held| held.named == named) {
            return Ok(held);
        }
        let damaged = |what: &str| Refused::Store(format!("the stored {what} of this execution cannot be read"));
        let system = String::from_utf8(system).map_err(|_| damaged("system prompt"))?;
        let tools = serde_json::from_slice(tools).map_err(|_| damaged("tool definitions"))?;
        let read = Arc::new(Self { system, tools, named });
        in_use.push(Arc::downgrade(&read));
        Ok(read)
    }
}

fn leading(host: &dyn Host) -> Option<Arc<Pattern>> {
    host.state().header.as_ref().and_then(|header| header.pattern.clone())
}

/// System prompt and tool definitions, as they are kept.
fn rendered(launch: &Launch, pattern: Option<&Pattern>, tools: &Toolset) -> (Vec<u8>, Vec<u8>) {
    let skills: Vec<String> = tools.skills().iter().map(listed).collect();
    let specs = tools.specs();
    let prompt = match launch.role {
        Role::Tactician => tactician_prompt(pattern),
        role => prompt_for((role, launch.asked), &specs, (&skills, &launch.patterns), tools.confinement()),
    };
    (prompt.into_bytes(), serde_json::to_vec(&specs).expect("tool definitions are plain data"))
}

/// A skill on one line. Whose word it is stands beside what a repository says of itself.
fn listed(skill: &Offered) -> String {
    let whose = if skill.source == Source::Workspace { " (from the repository)" } else { "" };
    let end = skill.description.floor_char_boundary(LONGEST_DESCRIPTION);
    let more = if end < skill.description.len() { "…" } else { "" };
    format!("`{}`{whose}: {}{more}", skill.name, &skill.description[..end])
}

#[cfg(test)]
mod tests {
    use windlass_domain::Digest;

    use super::*;

    fn read(system: &str, tools: &str) -> Result<Arc<Context>, Refused> {
        let named = ContextRef { system: Digest::of(system.as_bytes()), tools: Digest::of(tools.as_bytes()) };
        Context::read(named, system.as_bytes().to_vec(), tools.as_bytes())
    }

    #[test]
    fn what_is_the_same_for_two_executions_is_held_once_and_only_while_it_is_used() {
        let tools = r#"[{"name":"read","description":"","parameters":{}}]"#;
        let (one, same, other) = (read("a", tools).unwrap(), read("a", tools).unwrap(), read("b", tools).unwrap());
        assert!(Arc::ptr_eq(&one, &same));
        assert!(!Arc::ptr_eq(&one, &other));
        assert_eq!((one.system.as_str(), other.system.as_str(), other.tools.len()), ("a", "b", 1));
        let last = Arc::downgrade(&one);
        drop((one, same));
        assert!(last.upgrade().is_none());
        assert_eq!(read("a", tools).unwrap().system, "a");
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_not_kept() {
        assert!(read("c", "no tools").is_err());
        assert!(read("c", "no tools").is_err());
    }
}
