//! Every setting there is: its key in `windlass.toml`, its variable, what it is without either. `docs/configuration.md` is this
//! table, and `windlass doctor --config` shows what holds and who said it. Flags are those of each command, and stand above both.

use super::{Config, DEFAULT_ANTHROPIC_BASE, DEFAULT_MODEL, text};

pub struct Setting {
    /// `NAME` stands for any word. None: only a variable says it.
    pub key: Option<&'static str>,
    pub variable: Option<&'static str>,
    /// Where nobody says anything.
    pub default: &'static str,
    pub shown: Shown,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Whole,
    /// Whether it is set, and no more.
    Secret,
}

/// A setting as it holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Effective {
    pub name: String,
    pub value: String,
    /// `default`, a variable's name, or a line of the file.
    pub from: String,
    pub about: &'static str,
}

const fn file(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting { key: Some(key), variable: None, default, shown: Shown::Whole, about }
}

const fn variable(variable: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting { key: None, variable: Some(variable), default, shown: Shown::Whole, about }
}

impl Setting {
    const fn or(self, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    const fn secret(self) -> Self {
        Self { shown: Shown::Secret, ..self }
    }

    /// As people call it.
    pub fn name(&self) -> &'static str {
        self.key.or(self.variable).unwrap_or_default()
    }
}

pub const SETTINGS: &[Setting] = &[
    variable("WINDLASS_DATA_DIR", "`windlass` in the XDG state folder", "where everything is kept"),
    variable("LITELLM_API_KEY", "none", "the key of the server at `openai.base_url`").secret(),
    variable("ANTHROPIC_API_KEY", "none", "the key of the server at `anthropic.base_url`").secret(),
    variable("WINDLASS_TOKEN", "`client.token_file`", "the token for the server at `client.server`").secret(),
    variable("OTEL_EXPORTER_OTLP_ENDPOINT", "none", "who is sent spans and metrics ([observing](observing.md))"),
    variable(
        "WINDLASS_LOG",
        "`info` for workers, otherwise `off`",
        "the least grave lines: error, warn, info, debug, off",
    ),
    variable("WINDLASS_LOG_FORMAT", "`text`", "`text` or `json`"),
    variable("CONTAINER_MEMORY", "`sandbox.limits.memory_mib`", "what a container may use, as `512m` or `2g`"),
    file("openai.api", "`chat`", "which of OpenAI's interfaces the server speaks: `chat` or `responses`")
        .or("LITELLM_API"),
    file("openai.base_url", "none", "an OpenAI-compatible server, with or without `/v1`").or("LITELLM_API_BASE"),
    file("openai.model", "`gpt-4o`", "the model to ask there").or("LITELLM_MODEL"),
    file("anthropic.base_url", "`https://api.anthropic.com`", "an Anthropic-compatible server")
        .or("ANTHROPIC_BASE_URL"),
    file("anthropic.model", "none", "the model to ask there").or("ANTHROPIC_MODEL"),
    file("models.proxy", "the one that is asked anyway", "the model that answers in conversations"),
    file("models.planner", "the one that is asked anyway", "the model that writes plans"),
    file("models.executor", "the one that is asked anyway", "the model that works"),
    file("models.NAME.reasoning", "as the model does", "`low`, `medium`, `high` or a number of tokens"),
    file(
        "models.NAME.reasoning_content",
        "as the table of models says",
        "whether its thoughts come as text of their own",
    ),
    file("models.NAME.vision", "as the table of models says", "whether it sees images"),
    file("models.NAME.tool_calls", "as the table of models says", "whether it calls tools"),
    file("agent.max_iterations", "200", "how many model calls an attempt may make").or("AGENT_MAX_ITERATIONS"),
    file("agent.timeout_seconds", "600", "how long an attempt may take").or("AGENT_TIMEOUT_SECONDS"),
    file("agent.tool_output_max_tokens", "8000", "how much of a tool's output the model reads")
        .or("AGENT_TOOL_OUTPUT_MAX_TOKENS"),
    file("subagents.max_depth", "2", "how often work may be handed on").or("SUBAGENT_MAX_DEPTH"),
    file("subagents.default_timeout_seconds", "300", "how long a sub-agent may take")
        .or("SUBAGENT_DEFAULT_TIMEOUT_SECONDS"),
    file("subagents.max_parallel", "8", "how many of one agent work at a time"),
    file(
        "coordinator.max_concurrent_tasks_per_session",
        "3",
        "how many tasks of a conversation are under way at once; one more waits",
    )
    .or("COORDINATOR_MAX_CONCURRENT_TASKS"),
    file(
        "coordinator.max_concurrent_sessions_per_user",
        "5",
        "how many conversations of a user have tasks under way; one more is refused",
    ),
    file("coordinator.session_lease_ttl_ms", "30000", "how long a front door may hold a conversation")
        .or("COORDINATOR_SESSION_LEASE_TTL_MS"),
    file("compaction.context_window_tokens", "the model's", "how long a conversation may become"),
    file("compaction.response_reserve_tokens", "4096", "what is kept free for the answer"),
    file("compaction.compaction_trigger_ratio", "0.85", "how full it is when it is made shorter")
        .or("AGENT_COMPACTION_TRIGGER_RATIO"),
    file("compaction.memory_flush_enabled", "true", "whether the agent saves what it needs before")
        .or("AGENT_MEMORY_FLUSH_ENABLED"),
    file("compaction.memory_flush_soft_threshold_tokens", "4000", "how much earlier that is"),
    file("compaction.max_summary_tokens", "2000", "how long a summary may be"),
    file("compaction.preserve_recent_turns", "6", "how many turns stay as they are"),
    file("doom_loop.max_identical_calls", "3", "how often a call may be repeated"),
    file("doom_loop.max_consecutive_failures", "5", "how many calls in a row may fail"),
    file("doom_loop.pattern_window", "10", "in how many turns patterns are looked for"),
    file("sandbox.provider", "`bubblewrap`", "`bubblewrap`, `docker` or `process`").or("CONTAINER_MODE"),
    file("sandbox.readonly_mounts", "none", "folders that every sandbox may read, at the same path"),
    file("sandbox.env.NAME", "none", "variables that every sandbox is given").secret(),
    file("sandbox.network", "`none`", "`none`, or `restricted`: the allowed hosts, by a proxy"),
    file("sandbox.allowed_hosts", "none", "the hosts that commands reach, and that external data may go to unasked"),
    file("sandbox.limits.memory_mib", "2048", "all processes together"),
    file("sandbox.limits.processes", "512", "processes and threads, all together"),
    file("sandbox.limits.scratch_mib", "1024", "each of `/tmp`, the home and `/dev/shm`"),
    file("sandbox.limits.file_mib", "4096", "each file"),
    file("sandbox.limits.open_files", "4096", "of each process"),
    file("sandbox.limits.cpu_seconds", "14400", "of each process"),
    file("sandbox.docker.socket", "`/var/run/docker.sock`", "where the daemon listens").or("DOCKER_HOST"),
    file("sandbox.docker.image", "`execution-agent:latest`", "what containers are made of").or("CONTAINER_IMAGE"),
    file("sandbox.docker.cpus", "2", "how many processors a container may use").or("CONTAINER_CPU"),
    file("workspace.carry", "none", "ignored paths that checks need, such as `node_modules`"),
    file("approvals.lifetime_seconds", "86400", "how long a card waits for its answer, and an answer for its use"),
    file("embeddings.base_url", "none", "who says which memos mean the same: an OpenAI-compatible server"),
    file("embeddings.model", "none", "the model to ask there"),
    file("embeddings.key_env", "none", "the variable that holds the key"),
    file("context_service.url", "none", "who says what is known about a task ([context](context.md))")
        .or("CONTEXT_SERVICE_URL"),
    file("context_service.key_env", "none", "the variable that holds the key"),
    file("web.fetch", "false", "whether agents may read the web ([web](web.md))"),
    file("web_search.engine", "none", "`searxng`, `brave` or `tavily`"),
    file("web_search.base_url", "the engine's own", "where it is; SearXNG one runs oneself"),
    file("web_search.key_env", "none", "the variable that holds the key"),
    file("browser.enabled", "false", "whether agents have a browser ([browser](browser.md))"),
    file("browser.program", "looked for", "the Chromium, as the sandbox sees it"),
    file("mcp.servers.NAME.command", "none", "an MCP server's program and arguments ([MCP](mcp.md))"),
    file("mcp.servers.NAME.env.NAME", "none", "variables that the program is given").secret(),
    file("mcp.servers.NAME.url", "none", "or where it is").secret(),
    file("mcp.servers.NAME.headers_env.NAME", "none", "headers, and the variables that hold their values"),
    file("skills.from", "`[\"user\", \"workspace\", \"shipped\"]`", "where skills come from"),
    file("patterns.from", "`[\"user\", \"shipped\"]`", "where patterns come from; `workspace` is its own word"),
    file("agents.folder", "none", "a folder with a `bin` in which coding agents are").or("WINDLASS_AGENTS"),
    file("agents.programs.NAME", "as `PATH` has it", "an agent's program"),
    file("agents.silence_seconds", "300", "how long one may be without a word"),
    file("agents.call_seconds", "3600", "the same while something runs that it was let run"),
    file("agents.acp.NAME.name", "its id", "an agent that speaks the Agent Client Protocol: what it is called"),
    file("agents.acp.NAME.program", "none", "its program"),
    file("agents.acp.NAME.arguments", "none", "and arguments"),
    file("agents.acp.NAME.env.NAME", "none", "and variables").secret(),
    file("agents.acp.NAME.dialect", "`chat`", "how it speaks to its model: `chat`, `responses` or `messages`"),
    file("agents.acp.NAME.mcp", "false", "whether it takes tools of ours"),
    file("store.url", "the database in the data directory", "a PostgreSQL instead ([operations](operations.md))")
        .or("WINDLASS_STORE_URL")
        .secret(),
    variable("PGPASSWORD", "none", "its password, where its address has none").secret(),
    file(
        "limits.min_free_bytes",
        "the lesser of 1 GiB and 2 %",
        "what must stay free on the data directory's disk; 0 for nothing",
    ),
    file("limits.min_free_percent", "as above", "the same as a share; where both are said, the greater counts"),
    file(
        "retention.days",
        "for ever",
        "how long what tasks weigh is kept after they ended ([operations](operations.md))",
    ),
    variable("REDIS_URL", "none", "where streams are read and written ([Redis](redis.md))").secret(),
    file("redis.workspace", "none", "the folder that its tasks work in; needed with `REDIS_URL`"),
    file("redis.tenant", "`local`", "whose work comes in there"),
    file("redis.approvals", "false", "whether cards may be answered there"),
    file(
        "redis.maxlen",
        "10000",
        "about how many entries are kept in each stream that goes out, beside those of the last hour",
    ),
    file("redis.model", "as for any run", "the model to ask, unless a command names one"),
    file("redis.rehearsal", "none", "a script to play instead of asking a model"),
    file("redis.sandbox", "`sandbox.provider`", "`bubblewrap` or `docker`"),
    file("redis.max_tokens", "200000", "of each task, as are the next two"),
    file("redis.max_cost_usd", "2.00", "in US dollars"),
    file("redis.max_attempts", "5", "how often it is tried again"),
    file("telemetry.task_labels", "false", "whether metrics say which task they are of"),
    file("telemetry.metrics_hosts", "none", "names by which others reach `worker --metrics`"),
    file(
        "client.server",
        "none",
        "the server that commands are for, such as `https://host:7117` ([the service](service.md))",
    )
    .or("WINDLASS_SERVER"),
    file("client.token_file", "none", "the file of mode 0600 that holds the token for it"),
    file("server.listen", "`127.0.0.1:7117`", "where `windlass serve` listens ([the service](service.md))"),
    file("server.hosts", "none", "names by which others call it"),
    file("server.tls_certificate", "none", "the certificate that it shows, in PEM"),
    file("server.tls_key", "none", "its private key"),
    file("server.behind_proxy", "false", "something in front of it speaks TLS"),
    file("server.workspaces", "where it was started", "folders that tasks of the tenant `local` may work in"),
    file("server.requests_per_second", "50", "how often a token may ask"),
    file(
        "server.limits.max_tokens",
        "10000000",
        "the most that a request may ask for, all items of a plan and the planner together ([the service](service.md#how-much-may-be-asked-for))",
    ),
    file("server.limits.max_cost_usd", "100.00", "the same in US dollars"),
    file("server.limits.max_attempts", "20", "how often a task or an item may be tried again at most"),
    file(
        "server.webhooks.NAME.key_env",
        "none",
        "who may tell of events, and the variable that holds the key they sign with",
    ),
    file(
        "server.webhooks.NAME.path_env",
        "none",
        "the variable that holds the path by which they are known, where they can bear no token ([the service](service.md#webhooks-of-others))",
    ),
    file("tenants.NAME.workspaces", "none", "folders that tasks of this tenant may work in"),
    file(
        "tenants.NAME.limits.max_tokens",
        "`server.limits`",
        "the most that requests of this tenant may ask for, as are the next two",
    ),
    file("tenants.NAME.limits.max_cost_usd", "`server.limits`", "in US dollars"),
    file(
        "tenants.NAME.limits.max_attempts",
        "`server.limits`",
        "how often a task or an item may be tried again at most",
    ),
    file("tenants.NAME.webhooks.NAME.key_env", "none", "the same for its events"),
    file("tenants.NAME.webhooks.NAME.path_env", "none", "the same of where it tells them"),
];

/// All that are read, so that a slip can be told.
pub fn variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter_map(|setting| setting.variable)
}

pub fn effective(config: &Config) -> Vec<Effective> {
    SETTINGS.iter().flat_map(|setting| of(setting, config)).collect()
}

fn of(setting: &Setting, config: &Config) -> Vec<Effective> {
    let shown = |value: String| match setting.shown {
        Shown::Secret => "set".to_owned(),
        Shown::Whole if holds_password(&value) => "set (with a password)".to_owned(),
        Shown::Whole => value,
    };
    let nobody = match setting.shown {
        Shown::Secret => "not set".to_owned(),
        Shown::Whole => setting.default.replace('`', ""),
    };
    let named = setting.name().to_owned();
    let in_effect = setting.variable.and_then(|variable| in_effect(config, variable));
    if let (Some(variable), Some(value)) = (setting.variable.filter(|name| text(name).is_some()), &in_effect) {
        return vec![Effective {
            name: named,
            value: shown(value.clone()),
            from: variable.to_owned(),
            about: setting.about,
        }];
    }
    let pattern = setting.key.unwrap_or_default();
    let in_file: Vec<Effective> = config
        .written
        .said
        .iter()
        .filter(|said| matches(pattern, &said.key))
        .map(|said| Effective {
            name: said.key.clone(),
            value: shown(in_effect.clone().unwrap_or_else(|| said.value.clone())),
            from: format!("windlass.toml:{}", said.line),
            about: setting.about,
        })
        .collect();
    match in_file.is_empty() {
        // What may have any name is nothing until somebody names it.
        true if pattern.contains("NAME") => Vec::new(),
        true => vec![Effective { name: named, value: nobody, from: "default".to_owned(), about: setting.about }],
        false => in_file,
    }
}

/// What a variable came to, with the file below it.
fn in_effect(config: &Config, variable: &str) -> Option<String> {
    let (sandbox, docker) = (&config.file.sandbox, &config.file.sandbox.docker);
    match variable {
        "WINDLASS_DATA_DIR" => Some(config.data_dir.display().to_string()),
        "LITELLM_API_KEY" => config.openai.key.as_ref().map(|_| String::new()),
        "ANTHROPIC_API_KEY" => config.anthropic.key.as_ref().map(|_| String::new()),
        "OTEL_EXPORTER_OTLP_ENDPOINT" => config.collector.as_ref().and_then(|_| text(variable)),
        "WINDLASS_LOG" => config.log.and_then(|_| text(variable)),
        "WINDLASS_LOG_FORMAT" => text(variable),
        "CONTAINER_MEMORY" => docker.memory_bytes.map(|bytes| format!("{bytes} bytes")),
        "LITELLM_API" => Some(format!("{:?}", config.openai_api).to_lowercase()),
        "LITELLM_API_BASE" => Some(config.openai.address().to_owned()).filter(|address| !address.is_empty()),
        "LITELLM_MODEL" => Some(config.openai.model.clone().unwrap_or_else(|| DEFAULT_MODEL.to_owned())),
        "ANTHROPIC_BASE_URL" => {
            Some(config.anthropic.address()).filter(|at| *at != DEFAULT_ANTHROPIC_BASE).map(str::to_owned)
        }
        "ANTHROPIC_MODEL" => config.anthropic.model.clone(),
        "AGENT_MAX_ITERATIONS" => config.max_iterations.map(|number| number.to_string()),
        "AGENT_TIMEOUT_SECONDS" => config.timeout_seconds.map(|number| number.to_string()),
        "AGENT_TOOL_OUTPUT_MAX_TOKENS" => config.tool_output_max_tokens.map(|number| number.to_string()),
        "COORDINATOR_MAX_CONCURRENT_TASKS" => Some(config.concurrency.max_concurrent_tasks_per_session.to_string()),
        "COORDINATOR_SESSION_LEASE_TTL_MS" => Some(config.concurrency.session_lease_ttl_ms.to_string()),
        "CONTEXT_SERVICE_URL" => {
            config.context_service_url.as_ref().map(|url| url.split('?').next().unwrap_or_default().to_owned())
        }
        "REDIS_URL" => config.redis_url.as_ref().map(|_| String::new()),
        "SUBAGENT_MAX_DEPTH" => Some(config.delegation.max_depth.to_string()),
        "SUBAGENT_DEFAULT_TIMEOUT_SECONDS" => Some(config.delegation.default_timeout_seconds.to_string()),
        "AGENT_COMPACTION_TRIGGER_RATIO" => config.compaction.compaction_trigger_ratio.map(|ratio| ratio.to_string()),
        "AGENT_MEMORY_FLUSH_ENABLED" => config.compaction.memory_flush_enabled.map(|enabled| enabled.to_string()),
        "CONTAINER_MODE" => sandbox.provider.map(|provider| format!("{provider:?}").to_lowercase()),
        "DOCKER_HOST" => docker.socket.as_ref().map(|socket| socket.display().to_string()),
        "CONTAINER_IMAGE" => docker.image.clone(),
        "CONTAINER_CPU" => docker.cpus.map(|cpus| cpus.to_string()),
        // Secrets: that they are there is all that is shown.
        "WINDLASS_STORE_URL" | "PGPASSWORD" => text(variable),
        "WINDLASS_AGENTS" => config.agents.folder.as_ref().map(|folder| folder.display().to_string()),
        _ => None,
    }
}

/// `scheme://user:password@host`.
fn holds_password(value: &str) -> bool {
    value.split_once("://").is_some_and(|(_, rest)| rest.split(['/', '?']).next().unwrap_or_default().contains('@'))
}

/// `NAME` is one word, whatever is in it.
fn matches(pattern: &str, key: &str) -> bool {
    match pattern.split_once("NAME") {
        None => pattern == key,
        Some((before, "")) => key.strip_prefix(before).is_some_and(|name| !name.is_empty()),
        Some((before, after)) => key.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.match_indices(&after[..1]).map(|(at, _)| at);
            ends.into_iter().any(|at| at > 0 && matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use windlass_domain::Delegation;
    use windlass_domain::execution::DoomLoopConfig;
    use windlass_domain::task::{CompactionConfig, ExecutionConfig};

    use super::super::known_keys::known_keys;
    use super::*;

    fn keys() -> BTreeSet<String> {
        SETTINGS.iter().filter_map(|setting| setting.key).map(str::to_owned).collect()
    }

    #[test]
    fn every_key_that_can_be_written_is_in_the_table_and_no_other() {
        let mut known: BTreeSet<String> = known_keys().into_iter().collect();
        // Read by hand.
        known.remove("models");
        known.extend(["proxy", "planner", "executor"].map(|role| format!("models.{role}")));
        known.extend(
            ["reasoning", "reasoning_content", "vision", "tool_calls"].map(|wish| format!("models.NAME.{wish}")),
        );
        let table = keys();
        assert_eq!(known.difference(&table).collect::<Vec<_>>(), [""; 0], "not in the table");
        assert_eq!(table.difference(&known).collect::<Vec<_>>(), [""; 0], "not in the file");
    }

    /// Reads that say nothing about how the product works.
    const NOT_SETTINGS: [&str; 11] = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "USER",
        "LOGNAME",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "PATH",
        "WINDLASS_CRASH_AT",
        "WINDLASS_MCP_URL",
        "WINDLASS_MCP_TOKEN",
    ];

    #[test]
    fn every_variable_that_is_read_is_in_the_table() {
        let sources = [include_str!("../config.rs"), include_str!("../container.rs")];
        let mut read = BTreeSet::new();
        for source in sources {
            let product = source.split("#[cfg(test)]\nmod tests").next().expect("the product");
            for reader in ["text(\"", "named(\"", "number(\"", "read_as(\"", "variable(\""] {
                read.extend(product.split(reader).skip(1).filter_map(|rest| rest.split('"').next()));
            }
        }
        let known: BTreeSet<&str> = variables().chain(NOT_SETTINGS).collect();
        assert!(read.len() > 20, "{read:?}");
        assert_eq!(read.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn numbers_are_those_of_the_code() {
        let (limits, compaction) = (windlass_sandbox::Limits::default(), CompactionConfig::default());
        let (delegation, doom_loop) = (Delegation::default(), DoomLoopConfig::default());
        let execution = ExecutionConfig::default();
        for (key, expected) in [
            ("agent.max_iterations", u64::from(execution.max_iterations)),
            ("agent.timeout_seconds", execution.timeout_seconds),
            ("sandbox.limits.memory_mib", limits.memory_bytes >> 20),
            ("sandbox.limits.processes", limits.processes),
            ("sandbox.limits.scratch_mib", limits.scratch_bytes >> 20),
            ("sandbox.limits.file_mib", limits.file_size_bytes >> 20),
            ("sandbox.limits.open_files", limits.open_files),
            ("compaction.response_reserve_tokens", compaction.response_reserve_tokens),
            ("compaction.memory_flush_soft_threshold_tokens", compaction.memory_flush_soft_threshold_tokens),
            ("compaction.max_summary_tokens", compaction.max_summary_tokens),
            ("compaction.preserve_recent_turns", u64::from(compaction.preserve_recent_turns)),
            ("subagents.max_depth", u64::from(delegation.max_depth)),
            ("subagents.default_timeout_seconds", delegation.default_timeout_seconds),
            ("subagents.max_parallel", delegation.max_parallel as u64),
            ("doom_loop.max_identical_calls", u64::from(doom_loop.max_identical_calls)),
            ("doom_loop.max_consecutive_failures", u64::from(doom_loop.max_consecutive_failures)),
            ("doom_loop.pattern_window", u64::from(doom_loop.pattern_window)),
            ("agents.silence_seconds", windlass_adapters::Patience::default().silence.as_secs()),
            ("agents.call_seconds", windlass_adapters::Patience::default().call.as_secs()),
            ("approvals.lifetime_seconds", windlass_engine::Law::default().card_lifetime.as_secs()),
        ] {
            let setting = SETTINGS.iter().find(|setting| setting.key == Some(key)).expect(key);
            assert_eq!(setting.default, expected.to_string(), "{key}");
        }
    }

    #[test]
    fn the_page_is_this_table() {
        let page = include_str!("../../../../docs/configuration.md");
        let row = |setting: &Setting| {
            let code = |name: Option<&str>| name.map(|name| format!("`{name}`")).unwrap_or_default();
            format!("| {} | {} | {} | {} |", code(setting.key), code(setting.variable), setting.default, setting.about)
        };
        let table: Vec<String> = SETTINGS.iter().map(row).collect();
        let written: Vec<&str> = page
            .lines()
            .skip_while(|line| !line.starts_with("|---"))
            .skip(1)
            .take_while(|line| line.starts_with('|'))
            .collect();
        assert_eq!(written, table, "docs/configuration.md should have:\n{}", table.join("\n"));
    }

    #[test]
    fn a_pattern_stands_for_any_word() {
        for (pattern, key, expected) in [
            ("web.fetch", "web.fetch", true),
            ("web.fetch", "web.fetching", false),
            ("models.NAME.vision", "models.gpt-4.1.vision", true),
            ("models.NAME.vision", "models.proxy", false),
            ("mcp.servers.NAME.env.NAME", "mcp.servers.a.env.KEY", true),
            ("mcp.servers.NAME.env.NAME", "mcp.servers.a.url", false),
            ("sandbox.env.NAME", "sandbox.env.", false),
        ] {
            assert_eq!(matches(pattern, key), expected, "{pattern} {key}");
        }
    }
}
