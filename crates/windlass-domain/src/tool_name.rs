//! The names of tools that the runtime itself knows something about. A tool's name is what its model calls it by; the other tools
//! need no place here, and a test beside the tools holds these to what there is.

pub const ASK_USER: &str = "ask_user";
pub const CREATE_SKILL: &str = "create_skill";
/// No tool of a model's: the start of the program that carries an execution is asked for and judged as a call is.
pub const LAUNCH_AGENT: &str = "launch_agent";
pub const MEMORY_SEARCH: &str = "memory_search";
pub const SAVE_MEMO: &str = "save_memo";
pub const SEARCH_MEMO: &str = "search_memo";
pub const UPDATE_PLAN: &str = "update_plan";

/// With these an agent only remembers.
pub fn is_memory(tool: &str) -> bool {
    matches!(tool, SAVE_MEMO | SEARCH_MEMO)
}

/// With these an agent only talks to itself: nothing of its work is done by them.
pub fn is_talk(tool: &str) -> bool {
    is_memory(tool) || tool == UPDATE_PLAN
}

/// Calls that may be made again and change nothing, hence whose results need not be kept.
pub const REPEATABLE: [&str; 8] =
    ["glob", "grep", "list_skills", MEMORY_SEARCH, "read", "read_skill", SEARCH_MEMO, UPDATE_PLAN];

pub fn is_repeatable(tool: &str) -> bool {
    REPEATABLE.contains(&tool)
}
