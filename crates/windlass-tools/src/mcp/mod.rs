//! Tools of MCP servers: how such a server is started or reached from here, and each of its tools as one of ours. What they
//! are and how they are spoken to is `windlass-mcp`'s.

mod address;
mod program;
mod tool;

pub use address::{Address, NotAnAddress};
pub use program::ServerProgram;
pub use tool::McpTool;
