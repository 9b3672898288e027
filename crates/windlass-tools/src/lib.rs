//! What an agent can do: a registry of tools, their arguments checked against their schemas, and the built-in ones, one
//! file each. A tool says what a call would do (`prepare`, which changes nothing) before anybody is asked for leave, and
//! does it (`run`) only for a permit. Results and errors are written for a model to act on, in the agent's own paths.
//!
//! Not decided here: whether a call is allowed, what it costs, and what the journal keeps.

pub mod browser;
mod change;
mod context;
mod error;
mod kit;
pub mod mcp;
mod output;
mod program;
mod real;
mod schema;
pub mod skills;
mod strangers;
mod stream;
mod suggest;
mod text;
mod tool;
mod tools;
mod toolset;
pub mod web;

pub use context::{Confinement, Context, Limits};
pub use error::Error;
pub use kit::{Kit, RESEARCH_TOOL_ALLOWLIST};
pub use output::Saved;
pub use tool::{Nature, Output, Picture, Preparing, Running, Tool};
pub use tools::{
    AskUser, Bash, ContextInspect, CreateSkill, Edit, Glob, Grep, ListSkills, MemorySearch, Monitor,
    PublishDeliverable, PythonExec, Read, ReadSkill, RequestResearch, SaveMemo, SearchMemo, SkillExec, SpawnAgent,
    TellUser, UpdatePlan, ValidatePlan, WebFetch, WebSearch, Write,
};
pub use toolset::{Ran, Toolset};
