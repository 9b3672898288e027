//! The tools as a model meets them: what it is shown, what it is told, and what has happened afterwards.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod arguments;
mod ask_user;
mod bash;
mod browser;
mod changes;
mod context_inspect;
mod create_skill;
mod kits;
mod list_skills;
mod mcp;
mod memory_search;
mod monitor;
mod oversized;
mod plan;
mod publish;
mod python_exec;
mod reach;
mod read_skill;
mod reading;
mod real_browser;
mod real_mcp;
mod request_research;
mod sandboxed;
mod save_memo;
mod schemas;
mod search_memo;
mod searching;
mod seed_000_8_1;
mod skill_exec;
mod skills;
mod spawn_agent;
mod support;
mod tell_user;
mod validate_plan;
mod web;
mod web_fetch;
mod web_search;
mod world;
