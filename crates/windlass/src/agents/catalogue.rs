//! Every agent that this version knows how to talk to, by the name that `--agent` and plans use.

use std::sync::Arc;

use windlass_adapters::{Adapter, ClaudeCode, Codex, Copilot, OpenCode, Pi};

pub fn adapters() -> Vec<Arc<dyn Adapter>> {
    vec![Arc::new(ClaudeCode), Arc::new(Codex), Arc::new(Copilot), Arc::new(OpenCode), Arc::new(Pi)]
}

pub fn adapter(id: &str) -> Option<Arc<dyn Adapter>> {
    adapters().into_iter().find(|adapter| adapter.agent().id == id)
}

/// Our own loop.
pub const OURS: &str = "executor";

/// Whoever may be given work, by name: our own first.
pub fn names() -> Vec<String> {
    let others = adapters().into_iter().map(|adapter| adapter.agent().id.to_owned());
    std::iter::once(OURS.to_owned()).chain(others).collect()
}
