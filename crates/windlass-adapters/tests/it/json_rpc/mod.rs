//! The adapters whose programs speak JSON-RPC: Copilot, OpenCode, and any other over the Agent Client Protocol.

mod gemini;
mod hostile;
mod launches;
mod recorded;
mod rules;
