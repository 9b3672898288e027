//! What the peers need for the same work, and where Windlass aims. The peers were measured once, by their own harness, on a
//! two-core machine, 2026-11-15: compare ratios, never times. `scripts/bench-peers` measures them again beside Windlass.

/// A line of the comparison.
pub struct Aim {
    pub aim: &'static str,
    pub peers: &'static str,
}

pub const STEP_CPU: Aim = Aim {
    aim: "≤ 3 × floor",
    peers: "at 20 / 100 steps: floor 0.22 / 0.17; LangGraph + AsyncSqliteSaver 12.4 / 30.4; pydantic-ai + DBOS 15.9 / 32.7; \
            without durability pydantic-ai (Anthropic client) 3.8 / 6.1",
};
pub const STEP_GROWTH: Aim = Aim {
    aim: "flat to 2,000 steps",
    peers: "at step 400: floor 0.03 (no fsync); LangGraph 172; pydantic-ai 37 to 166",
};
pub const STEP_BASH: Aim =
    Aim { aim: "", peers: "Codex exec, real bash, not durable: 46 / 42 CPU ms at 20 / 100 steps" };
pub const AGENTS_WALL: Aim = Aim { aim: "≤ 3.5 s", peers: "floor 3.0; LangGraph 129; pydantic-ai 122 (ideal 2.2)" };
pub const AGENTS_CPU: Aim = Aim { aim: "≤ 4 s", peers: "floor 1.1; LangGraph 135; pydantic-ai 116" };
pub const AGENTS_MEMORY: Aim =
    Aim { aim: "≤ 64 KB", peers: "floor 32; LangGraph 114; pydantic-ai 154; Codex 45 MB, a process each" };
pub const LONG_COST: Aim = Aim { aim: "flat", peers: "" };
pub const LONG_MEMORY: Aim = Aim { aim: "flat", peers: "" };
pub const PREFIX: Aim = Aim { aim: "> 0.99", peers: "" };
pub const FACTS: Aim = Aim { aim: "all", peers: "" };
pub const START_TIME: Aim = Aim { aim: "≤ 25 ms", peers: "floor 1.7; LangGraph 1,102; pydantic-ai 871; Codex 127" };
pub const START_MEMORY: Aim = Aim { aim: "≤ 30 MB", peers: "floor 3; LangGraph 101; pydantic-ai 81; Codex 154" };
pub const STORED: Aim = Aim {
    aim: "linear, ≤ 4 × said",
    peers: "at 100 steps: floor 290; LangGraph 111,000 (quadratic); pydantic-ai + DBOS 5,100",
};
pub const COMMITS: Aim = Aim {
    aim: "≥ 10,000/s grouped",
    peers: "queue put+lease+ack: apalis-sqlite 1,701; PostgreSQL 1,574; Redis, AOF always, 1,528",
};
pub const QUEUES: Aim = Aim {
    aim: "≥ 10,000/s with 4",
    peers: "one producer, 4 consumers: apalis-sqlite 1,701; PostgreSQL 1,574; Redis, AOF always, 1,528",
};
pub const QUEUE_HEAD: Aim = Aim { aim: "≤ 1.25 × none waiting", peers: "" };
pub const COLD: Aim = Aim { aim: "≤ 1.3 × bubblewrap", peers: "bubblewrap 4.6; docker run 456" };
pub const WARM: Aim = Aim { aim: "≤ 2 ms", peers: "plain spawn 0.6; docker exec 76; Codex, a bash step, 52 to 62" };
pub const WORKTREES: Aim = Aim { aim: "≤ 1.25 × a synced copy", peers: "" };
pub const GRAPH_PASS: Aim = Aim { aim: "≤ 1.5 × with 10 % done", peers: "" };
/// A hundredth of one core: what rests must not be what a machine is busy with.
pub const IDLE_CPU: Aim = Aim { aim: "≤ 10 ms per s", peers: "" };
/// A task that waits is in the store and not in memory.
pub const IDLE_MEMORY: Aim = Aim { aim: "≤ 1.5 × with none", peers: "" };
/// Nobody waits for Windlass as long as the machine is not the limit.
pub const ACTIVE_PACE: Aim = Aim { aim: "≥ 0.9 × the model's", peers: "" };
/// Twice what an agent has without a service around it: a watcher, a trace, a queue's message and a lease each.
pub const ACTIVE_MEMORY: Aim = Aim { aim: "≤ 128 KB", peers: "" };
/// In the order of what queues of others take in, which sign and judge nothing.
pub const CREATING: Aim = Aim {
    aim: "≥ 1,000/s",
    peers: "queue put+lease+ack: apalis-sqlite 1,701; PostgreSQL 1,574; Redis, AOF always, 1,528",
};
/// What a person takes for at once, with as many clients as a team has.
pub const CREATING_P99: Aim = Aim { aim: "≤ 100 ms with 64", peers: "" };
/// An event is made into text once, whoever listens; what is left for each is a wake-up, a header and a write.
pub const FAN_OUT_CPU: Aim = Aim { aim: "≤ 3 × bare loop", peers: "" };
pub const FAN_OUT_LAST: Aim = Aim { aim: "≤ 100 ms", peers: "" };
/// Words take one commit of their own besides the agent's, and no waiting.
pub const INJECTING: Aim = Aim { aim: "≤ 2 × untold", peers: "" };
/// Seed 000 §3.3: before the next model call.
pub const INJECTING_LATE: Aim = Aim { aim: "none", peers: "" };
pub const FIRST_LOAD: Aim = Aim { aim: "< 300 KB", peers: "" };
pub const EVENT_TO_PIXEL: Aim = Aim { aim: "< 100 ms", peers: "" };
pub const FRAMES: Aim = Aim { aim: "60 a second", peers: "" };
/// Whoever adds a worker wants more to be done, also where models answer at once.
pub const SCALING: Aim = Aim { aim: "≥ 1.5 × one, with 2", peers: "" };
pub const NONE: Aim = Aim { aim: "", peers: "" };
