//! Gemini CLI as an operator would configure it: an agent that nobody wrote an adapter for, known by its command line alone.

use windlass_adapters::{Acp, Agent, Dialect, Permissions};

static GEMINI: Agent = Agent {
    id: "gemini",
    display_name: "Gemini CLI",
    program: "gemini",
    tried: &["0.61.0"],
    // It speaks none of our dialects; the tests bring a model that speaks its own.
    dialects: &[Dialect::Chat],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: false,
    can_resume: false,
    can_fork: false,
};

pub fn gemini() -> Acp {
    Acp::new(&GEMINI, ["--acp", "--model", "{model}"])
        .with_environment("GEMINI_API_KEY", "{key}")
        .with_environment("GOOGLE_GEMINI_BASE_URL", "{endpoint}")
        .with_environment("GEMINI_CLI_NO_RELAUNCH", "true")
        .with_file(".gemini/settings.json", r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#)
        .with_terminal(["--model", "{model}", "--prompt-interactive", "go"])
}
