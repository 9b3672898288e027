//! The real programs, each in a scratch home and against a rehearsed model: `make test-agents` installs them and says where.

mod claude_code;
mod codex;
mod driver;
mod json_rpc;
mod mcp;
mod pi;
mod scenes;
