//! The names of OpenTelemetry's semantic conventions for generative AI, all of them that are used, in one place; and the two
//! histograms that they ask of a client.

use windlass_domain::Usage;
use windlass_domain::task::ModelChoice;

use crate::metric::Metric;

pub const OPERATION: &str = "gen_ai.operation.name";
pub const PROVIDER: &str = "gen_ai.provider.name";
pub const AGENT_NAME: &str = "gen_ai.agent.name";
pub const AGENT_ID: &str = "gen_ai.agent.id";
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const TOOL_NAME: &str = "gen_ai.tool.name";
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub const ERROR_TYPE: &str = "error.type";

pub const INVOKE_AGENT: &str = "invoke_agent";
pub const CHAT: &str = "chat";
pub const EXECUTE_TOOL: &str = "execute_tool";

pub const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
pub const OPERATION_DURATION: &str = "gen_ai.client.operation.duration";
/// What the conventions write where there is no better word.
const OTHER: &str = "_OTHER";

/// One question to a model.
pub struct Chat<'a> {
    pub provider: &'a str,
    pub model: &'a str,
}

impl Chat<'_> {
    pub fn token_usage(&self, used: Usage) -> [Metric; 2] {
        let of = |kind: &str, tokens| self.labelled(Metric::measure(TOKEN_USAGE, tokens)).with(TOKEN_TYPE, kind);
        [of("input", used.input), of("output", used.output)]
    }

    pub fn duration(&self, millis: u64) -> Metric {
        self.labelled(Metric::measure(OPERATION_DURATION, millis))
    }

    pub fn failure(&self, millis: u64) -> Metric {
        self.duration(millis).with(ERROR_TYPE, OTHER)
    }

    fn labelled(&self, metric: Metric) -> Metric {
        metric.with(OPERATION, CHAT).with(PROVIDER, self.provider).with(REQUEST_MODEL, self.model)
    }
}

/// The provider as the conventions call it; whoever speaks OpenAI's language counts as OpenAI.
pub const fn provider(model: &ModelChoice) -> &'static str {
    match model {
        ModelChoice::OpenAi { .. } | ModelChoice::OpenAiResponses { .. } => "openai",
        ModelChoice::Anthropic { .. } => "anthropic",
        ModelChoice::Rehearsal { .. } => "rehearsal",
    }
}
