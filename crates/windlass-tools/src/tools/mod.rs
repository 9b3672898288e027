//! The built-in tools, one file each.

mod ask_user;
mod bash;
mod edit;
mod glob;
mod grep;
mod list_skills;
mod memory_search;
mod publish_deliverable;
mod read;
mod read_skill;
mod save_memo;
mod search_memo;
mod spawn_agent;
mod update_plan;
mod web_fetch;
mod web_search;
mod write;

pub use ask_user::AskUser;
pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use list_skills::ListSkills;
pub use memory_search::MemorySearch;
pub use publish_deliverable::PublishDeliverable;
pub use read::Read;
pub use read_skill::ReadSkill;
pub use save_memo::SaveMemo;
pub use search_memo::SearchMemo;
pub use spawn_agent::SpawnAgent;
pub use update_plan::UpdatePlan;
pub use web_fetch::WebFetch;
pub use web_search::WebSearch;
pub use write::Write;
