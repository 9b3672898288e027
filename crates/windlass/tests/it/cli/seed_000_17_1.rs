//! Seed 000 §17.1: every variable of its table is read under its own name, and holds before what the file says. Each test sets one, beside
//! another word of the file where the file has one, and looks at what holds. That what holds is what is done is shown elsewhere for most:
//! `served` and `choosing` (LITELLM), `docker` (CONTAINER; memory and processors there alone), `redis` (REDIS_URL), `knowing` (the context
//! service), `limits` (iterations), `long_runs` (compaction), `subagents` (their depth); and here for those that nothing else shows. How long
//! a front door holds a session has no effect but on another that waits for one that died, and is looked at as a setting only.

use serde_json::{Value, json};

use super::configuring::{configured, setting};
use super::scripts::THINKER;
use super::serving::begun;
use crate::support::{Home, read};

/// As the seed lists them.
const TABLE: [&str; 18] = [
    "LITELLM_API_KEY",
    "LITELLM_API_BASE",
    "LITELLM_MODEL",
    "CONTAINER_MODE",
    "CONTAINER_IMAGE",
    "CONTAINER_MEMORY",
    "CONTAINER_CPU",
    "REDIS_URL",
    "CONTEXT_SERVICE_URL",
    "AGENT_MAX_ITERATIONS",
    "AGENT_TIMEOUT_SECONDS",
    "AGENT_COMPACTION_TRIGGER_RATIO",
    "AGENT_MEMORY_FLUSH_ENABLED",
    "AGENT_TOOL_OUTPUT_MAX_TOKENS",
    "SUBAGENT_MAX_DEPTH",
    "SUBAGENT_DEFAULT_TIMEOUT_SECONDS",
    "COORDINATOR_MAX_CONCURRENT_TASKS",
    "COORDINATOR_SESSION_LEASE_TTL_MS",
];

/// The variable says `value`, the file something else; `shown` is what holds.
fn check(variable: &str, value: &str, file: &str, name: &str, shown: &str) {
    let home = Home::new();
    configured(&home, &file.replace("HERE", &home.workspace().to_string_lossy()));
    let look = || home.windlass(&["doctor", "--config", "--json"]);
    let by_variable = look().env(variable, value).run().expect(0);
    assert_eq!(setting(&by_variable, name), (shown.to_owned(), variable.to_owned()));
    let without = look().run().expect(0);
    let (other, from) = setting(&without, name);
    // Some are said by no file.
    let expected = if file.is_empty() || name == variable { "default" } else { "windlass.toml:2" };
    assert_eq!(from, expected, "{without:?}");
    assert_ne!(other, shown, "without the variable it is something else");
}

macro_rules! variables {
    ($($test:ident: $variable:literal = $value:literal, $file:literal, $name:literal => $shown:literal;)+) => {
        $(#[test] fn $test() { check($variable, $value, $file, $name, $shown); })+

        #[test]
        fn none_is_missing() {
            assert_eq!([$($variable),+], TABLE);
        }
    };
}

variables! {
    litellm_api_key: "LITELLM_API_KEY" = "sk-0123456789", "", "LITELLM_API_KEY" => "set";
    litellm_api_base: "LITELLM_API_BASE" = "http://localhost:4000", "[openai]\nbase_url = \"http://localhost:1\"\n", "openai.base_url" => "http://localhost:4000";
    litellm_model: "LITELLM_MODEL" = "gpt-5", "[openai]\nmodel = \"other\"\n", "openai.model" => "gpt-5";
    container_mode: "CONTAINER_MODE" = "docker", "[sandbox]\nprovider = \"bubblewrap\"\n", "sandbox.provider" => "docker";
    container_image: "CONTAINER_IMAGE" = "mine:1", "[sandbox.docker]\nimage = \"other\"\n", "sandbox.docker.image" => "mine:1";
    container_memory: "CONTAINER_MEMORY" = "2g", "", "CONTAINER_MEMORY" => "2147483648 bytes";
    container_cpu: "CONTAINER_CPU" = "0.5", "[sandbox.docker]\ncpus = 3\n", "sandbox.docker.cpus" => "0.5";
    redis_url: "REDIS_URL" = "redis://localhost:6379", "[redis]\nworkspace = \"HERE\"\n", "REDIS_URL" => "set";
    context_service_url: "CONTEXT_SERVICE_URL" = "http://localhost:3001", "[context_service]\nurl = \"http://localhost:1\"\n", "context_service.url" => "http://localhost:3001";
    agent_max_iterations: "AGENT_MAX_ITERATIONS" = "20", "[agent]\nmax_iterations = 7\n", "agent.max_iterations" => "20";
    agent_timeout_seconds: "AGENT_TIMEOUT_SECONDS" = "60", "[agent]\ntimeout_seconds = 7\n", "agent.timeout_seconds" => "60";
    agent_compaction_trigger_ratio: "AGENT_COMPACTION_TRIGGER_RATIO" = "0.5", "[compaction]\ncompaction_trigger_ratio = 0.9\n", "compaction.compaction_trigger_ratio" => "0.5";
    agent_memory_flush_enabled: "AGENT_MEMORY_FLUSH_ENABLED" = "false", "[compaction]\nmemory_flush_enabled = true\n", "compaction.memory_flush_enabled" => "false";
    agent_tool_output_max_tokens: "AGENT_TOOL_OUTPUT_MAX_TOKENS" = "80", "[agent]\ntool_output_max_tokens = 7\n", "agent.tool_output_max_tokens" => "80";
    subagent_max_depth: "SUBAGENT_MAX_DEPTH" = "1", "[subagents]\nmax_depth = 3\n", "subagents.max_depth" => "1";
    subagent_default_timeout_seconds: "SUBAGENT_DEFAULT_TIMEOUT_SECONDS" = "30", "[subagents]\ndefault_timeout_seconds = 7\n", "subagents.default_timeout_seconds" => "30";
    coordinator_max_concurrent_tasks: "COORDINATOR_MAX_CONCURRENT_TASKS" = "9", "[coordinator]\nmax_concurrent_tasks_per_session = 7\n", "coordinator.max_concurrent_tasks_per_session" => "9";
    coordinator_session_lease_ttl_ms: "COORDINATOR_SESSION_LEASE_TTL_MS" = "60000", "[coordinator]\nsession_lease_ttl_ms = 40000\n", "coordinator.session_lease_ttl_ms" => "60000";
}

/// The model would think for an hour.
#[test]
fn an_agent_s_time_is_what_the_variable_says() {
    let home = Home::playing(THINKER);
    let result = home.run(&["--json"]).env("AGENT_TIMEOUT_SECONDS", "1").run().expect(1).result();
    assert_eq!(result["error_details"]["message"], "the time limit is reached", "{result}");
}

const READER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: read, args: { path: notes.txt } } ]
    - reply: Done.
"#;

#[test]
fn what_a_tool_says_is_as_long_as_the_variable_says() {
    let shown = |tokens: Option<&str>| {
        let home = Home::playing(READER);
        home.write("notes.txt", &"a line of words\n".repeat(1_000));
        let run = home.run(&["--json"]);
        let run = tokens.into_iter().fold(run, |run, tokens| run.env("AGENT_TOOL_OUTPUT_MAX_TOKENS", tokens));
        run.run().expect(0);
        read(&home).of("tool.finished").map(|event| event.to_string().len()).sum::<usize>()
    };
    let (usual, short) = (shown(None), shown(Some("100")));
    assert!(short * 4 < usual, "{short} of {usual} bytes");
}

/// An agent of an agent's would think for an hour.
const PARENT: &str = r#"
version: 1
tracks:
  subagent:
    - delay_ms: 3600000
      reply: Too late.
  default:
    - calls: [ { tool: spawn_agent, args: { task: "Think about it" } } ]
    - reply: Done without it.
      repeat: forever
"#;

#[test]
fn a_subagent_s_time_is_what_the_variable_says() {
    let home = Home::playing(PARENT);
    let result = home.run(&["--json"]).env("SUBAGENT_DEFAULT_TIMEOUT_SECONDS", "1").run().expect(0).result();
    assert_eq!(result["final_message"], "Done without it.", "{result}");
}

/// Every turn begins a task, whose plan waits for a yes.
const TALK: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "new_task", "response": "On it."}'
      repeat: forever
  default:
    - reply: Done.
"#;

#[test]
fn as_many_tasks_of_a_conversation_are_under_way_as_the_variable_says() {
    let home = Home::playing(TALK);
    let script = home.script();
    let words = ["serve", "--listen", "127.0.0.1:0", "--rehearsal", script.to_str().expect("a plain path")];
    let served = begun(&home, home.windlass(&words).env("COORDINATOR_MAX_CONCURRENT_TASKS", "1"));
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    let session = id(&served.post("/v1/sessions", &json!({})).expect(200).json()["session_id"]);
    for words in ["Write it", "And this"] {
        let said = served.post(&format!("/v1/sessions/{session}/messages"), &json!({"message": words})).expect(202);
        served.end_of(&id(&said.json()["turn"]));
    }
    let told = served.get(&format!("/v1/sessions/{session}")).expect(200).json();
    let statuses: Vec<&str> =
        told["tasks"].as_array().expect("tasks").iter().filter_map(|task| task["status"].as_str()).collect();
    assert_eq!(statuses, ["RUNNING", "PAUSED"], "{told}");
    served.end();
}
