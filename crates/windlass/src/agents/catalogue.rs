//! Every agent that may be given work, by the name that `--agent` and plans use: our own, those that this version knows how to talk to, and
//! those of the operator's that speak the Agent Client Protocol.

use std::sync::Arc;

use windlass_adapters::{Acp, Adapter, Agent, ClaudeCode, Codex, Copilot, OpenCode, Permissions, Pi};

use super::config::{AcpConfig, AgentsConfig};

/// Our own loop.
pub const OURS: &str = "executor";

#[derive(Clone)]
pub struct Catalogue {
    others: Arc<[Arc<dyn Adapter>]>,
}

impl Catalogue {
    pub fn new(config: &AgentsConfig) -> Self {
        let known: [Arc<dyn Adapter>; 5] =
            [Arc::new(ClaudeCode), Arc::new(Codex), Arc::new(Copilot), Arc::new(OpenCode), Arc::new(Pi)];
        let is_known = |id: &str| id == OURS || known.iter().any(|adapter| adapter.agent().id == id);
        let added =
            config.acp.iter().filter(|(id, _)| !is_known(id)).map(|(id, acp)| spoken(id, acp)).collect::<Vec<_>>();
        Self { others: known.into_iter().chain(added).collect() }
    }

    /// All but our own.
    pub fn others(&self) -> &[Arc<dyn Adapter>] {
        &self.others
    }

    /// Nothing for our own, and for one that there is not.
    pub fn find(&self, id: &str) -> Option<Arc<dyn Adapter>> {
        self.others.iter().find(|adapter| adapter.agent().id == id).cloned()
    }

    pub fn with_screens(&self) -> Vec<&'static str> {
        self.others.iter().filter(|adapter| adapter.has_screen()).map(|adapter| adapter.agent().id).collect()
    }

    /// Our own first.
    pub fn names(&self) -> Vec<String> {
        let others = self.others.iter().map(|adapter| adapter.agent().id.to_owned());
        std::iter::once(OURS.to_owned()).chain(others).collect()
    }
}

/// What is known of it is what the operator says, for as long as the process lives.
fn spoken(id: &str, config: &AcpConfig) -> Arc<dyn Adapter> {
    let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let agent: &'static Agent = Box::leak(Box::new(Agent {
        id: kept(id),
        display_name: kept(config.name.as_deref().unwrap_or(id)),
        program: kept(&config.program),
        tried: &[],
        dialects: config.dialect.alone(),
        permissions: Permissions::Asked,
        takes_mcp: config.mcp,
        can_be_steered: false,
        can_resume: false,
        can_fork: false,
    }));
    let acp = Acp::new(agent, config.arguments.iter().cloned());
    Arc::new(config.env.iter().fold(acp, |acp, (name, value)| acp.with_environment(name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_adds_agents_and_replaces_none() {
        let written = "[acp.gemini]\nprogram = \"gemini\"\narguments = [\"--acp\"]\n[acp.codex]\nprogram = \"evil\"\n";
        let catalogue = Catalogue::new(&toml::from_str(written).expect("readable"));
        let names = catalogue.names();
        assert_eq!(names, ["executor", "claude-code", "codex", "copilot", "opencode", "pi", "gemini"]);
        let program = |id: &str| catalogue.find(id).map(|adapter| adapter.agent().program);
        assert_eq!((program("codex"), program("gemini"), program(OURS)), (Some("codex"), Some("gemini"), None));
    }
}
