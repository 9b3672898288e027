//! How a coding agent's program is made to take one turn without Windlass: its one-shot command, without a login, without calling home, and
//! without any of the switches that would let it act unasked. Its one answer calls no tool, so that it asks for nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::launches::{GOAL, MODEL, Program};

/// Among the program's providers.
const PROVIDER: &str = "rehearsed";

/// What all of them are told.
pub struct Turn<'a> {
    /// HOST:PORT of the model server.
    pub server: &'a str,
    /// Of this turn alone.
    pub home: &'a Path,
    /// Where `make agents` has put the programs.
    pub agents: &'a Path,
}

impl Turn<'_> {
    /// The words and variables with which `program`, which `command` starts, says what the model says, and ends.
    pub fn arrange(&self, program: Program, command: &mut Command) -> anyhow::Result<()> {
        match program {
            Program::StandIn => {}
            Program::ClaudeCode => self.claude_code(command),
            Program::Codex => self.codex(command),
            Program::Copilot => self.copilot(command),
            Program::OpenCode => self.opencode(command),
            Program::Pi => self.pi(command)?,
        }
        Ok(())
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.server)
    }

    fn claude_code(&self, command: &mut Command) {
        command
            .args(["--print", "--output-format", "stream-json", "--verbose", "--permission-mode", "default", GOAL])
            .env("ANTHROPIC_BASE_URL", format!("http://{}", self.server))
            .envs([("ANTHROPIC_API_KEY", "none"), ("ANTHROPIC_MODEL", MODEL), ("ANTHROPIC_DEFAULT_HAIKU_MODEL", MODEL)])
            .envs(["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER"].map(|switch| (switch, "1")))
            .envs(["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_MAX_RETRIES"].map(|name| (name, "1")));
    }

    fn codex(&self, command: &mut Command) {
        let url = self.url();
        let provider = format!(
            "model_providers.{PROVIDER}={{name=\"{PROVIDER}\",base_url=\"{url}\",env_key=\"REHEARSED_KEY\",\
             wire_api=\"responses\"}}"
        );
        command
            .args(["exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only", "-m", MODEL])
            .args(["-c", &format!("model_provider={PROVIDER}"), "-c", &provider])
            .args(["--disable", "plugins", "-c", "analytics.enabled=false", GOAL])
            .env("CODEX_HOME", self.home)
            .env("REHEARSED_KEY", "none");
    }

    /// What it would unpack into each new home lies beside it, as under Windlass.
    fn copilot(&self, command: &mut Command) {
        command
            .args(["--output-format", "json", "--prompt", GOAL])
            .env("COPILOT_CLI_DIST_DIR", self.agents.join("copilot-dist"))
            .env("COPILOT_PROVIDER_BASE_URL", self.url())
            .envs([("COPILOT_PROVIDER_TYPE", "openai"), ("COPILOT_PROVIDER_WIRE_API", "completions")])
            .envs([("COPILOT_PROVIDER_API_KEY", "none"), ("COPILOT_MODEL", MODEL)])
            .envs([("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")]);
    }

    fn opencode(&self, command: &mut Command) {
        let switches = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PROJECT_CONFIG"];
        command
            .args(["run", "--format", "json", GOAL])
            .env("OPENCODE_CONFIG_CONTENT", self.opencode_configuration().to_string())
            .envs(switches.map(|switch| (format!("OPENCODE_DISABLE_{switch}"), "1")))
            .env("npm_config_offline", "true");
    }

    fn opencode_configuration(&self) -> Value {
        let model = format!("{PROVIDER}/{MODEL}");
        let models =
            json!({ MODEL: {"name": MODEL, "tool_call": true, "limit": {"context": 200_000, "output": 8_000}} });
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Rehearsed",
            "options": {"baseURL": self.url(), "apiKey": "none"},
            "models": models,
        });
        json!({
            "model": model,
            "small_model": model,
            "share": "disabled",
            "autoupdate": false,
            "enabled_providers": [PROVIDER],
            "permission": {"*": "ask"},
            "provider": {PROVIDER: provider},
        })
    }

    fn pi(&self, command: &mut Command) -> anyhow::Result<()> {
        let model = json!({"id": MODEL, "name": "Rehearsed", "contextWindow": 200_000, "maxTokens": 8_000});
        let provider = json!({"baseUrl": self.url(), "api": "openai-completions", "apiKey": "none", "models": [model]});
        fs::write(self.home.join("models.json"), json!({"providers": {PROVIDER: provider}}).to_string())?;
        command
            .args(["--provider", PROVIDER, "--model", MODEL, "--mode", "json", GOAL])
            .env("PI_CODING_AGENT_DIR", self.home)
            .envs([("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")]);
        Ok(())
    }
}
