//! The adapters whose programs speak JSON-RPC: Copilot, OpenCode, and any other over the Agent Client Protocol.

mod driver;
mod gemini;
mod hostile;
mod launches;
mod mcp;
mod real_agents;
mod recorded;
mod rules;
