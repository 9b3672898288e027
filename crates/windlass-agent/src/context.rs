//! The unchanging head of every prompt: system prompt and tool definitions, and the task message that opens the
//! transcript. Built once, kept as blobs, and loaded from there ever after, so that a run that goes on tomorrow with a
//! newer binary still asks with the very same bytes.

use windlass_domain::execution::{ContextRef, Launch, RunnerCommand};
use windlass_domain::{Attachment, Host, Refused, Role, ToolSpec};
use windlass_tools::Toolset;
use windlass_tools::skills::{Offered, Source};

use crate::prompt::{prompt_for, tactician_prompt, task_message};

/// How much of a description every prompt has room for; `list_skills` has the rest.
const LONGEST_DESCRIPTION: usize = 300;

pub(crate) struct Context {
    pub system: String,
    pub tools: Vec<ToolSpec>,
    pub named: ContextRef,
}

impl Context {
    pub async fn load_or_build(host: &dyn Host, launch: &Launch, tools: &Toolset) -> Result<Self, Refused> {
        let (known, is_told) = {
            let state = host.state();
            (state.context, !state.transcript.is_empty())
        };
        if !is_told {
            let images = launch.task.attachments.iter().filter_map(|attachment| match attachment {
                Attachment::Image(image) => Some(image.clone()),
                Attachment::Text { .. } => None,
            });
            let leading = host.state().header.as_ref().and_then(|header| header.pattern.clone());
            let leading = leading.filter(|pattern| pattern.leads());
            let content = task_message(launch.role, &launch.task, leading.as_deref());
            host.stage(vec![RunnerCommand::Open { content, images: images.collect() }])?;
        }
        match known {
            Some(named) => Self::load(host, named).await,
            None => Self::build(host, launch, tools).await,
        }
    }

    async fn build(host: &dyn Host, launch: &Launch, tools: &Toolset) -> Result<Self, Refused> {
        let confinement = tools.confinement();
        let skills: Vec<String> = tools.skills().iter().map(listed).collect();
        let tools = tools.specs();
        let prompt = match launch.role {
            Role::Tactician => {
                let pattern = host.state().header.as_ref().and_then(|header| header.pattern.clone());
                tactician_prompt(pattern.as_deref())
            }
            role => prompt_for((role, launch.asked), &tools, (&skills, &launch.patterns), confinement),
        };
        let system = host.blob_put(prompt.into_bytes()).await?;
        let tools = host.blob_put(serde_json::to_vec(&tools).expect("tool definitions are plain data")).await?;
        let named = ContextRef { system: system.digest, tools: tools.digest };
        // As it was kept, which is what a run that goes on tomorrow will read.
        Self::read(named, system.bytes, &tools.bytes)
    }

    async fn load(host: &dyn Host, named: ContextRef) -> Result<Self, Refused> {
        let system = host.blob_get(named.system).await?;
        let tools = host.blob_get(named.tools).await?;
        Self::read(named, system, &tools)
    }

    fn read(named: ContextRef, system: Vec<u8>, tools: &[u8]) -> Result<Self, Refused> {
        let damaged = |what: &str| Refused::Store(format!("the stored {what} of this execution cannot be read"));
        let system = String::from_utf8(system).map_err(|_| damaged("system prompt"))?;
        let tools = serde_json::from_slice(tools).map_err(|_| damaged("tool definitions"))?;
        Ok(Self { system, tools, named })
    }
}

/// A skill on one line. Whose word it is stands beside what a repository says of itself.
fn listed(skill: &Offered) -> String {
    let whose = if skill.source == Source::Workspace { " (from the repository)" } else { "" };
    let end = skill.description.floor_char_boundary(LONGEST_DESCRIPTION);
    let more = if end < skill.description.len() { "…" } else { "" };
    format!("`{}`{whose}: {}{more}", skill.name, &skill.description[..end])
}
