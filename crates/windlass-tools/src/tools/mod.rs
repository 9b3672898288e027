//! The built-in tools, one file each.

mod ask_user;
mod bash;
mod edit;
mod glob;
mod grep;
mod publish_deliverable;
mod read;
mod save_memo;
mod search_memo;
mod update_plan;
mod write;

pub use ask_user::AskUser;
pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use publish_deliverable::PublishDeliverable;
pub use read::Read;
pub use save_memo::SaveMemo;
pub use search_memo::SearchMemo;
pub use update_plan::UpdatePlan;
pub use write::Write;
