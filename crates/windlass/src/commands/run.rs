//! `windlass run GOAL`: takes the goal in as a task and works on it here, or leaves it to workers. `windlass run --plan FILE`: the same
//! for a plan that somebody wrote.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use windlass_domain::pattern::Pattern;
use windlass_domain::plan::{Plan, PlanBudget};
use windlass_domain::task::{Deadline, DeadlineAction, ExecutionConfig};
use windlass_domain::{BaseCase, Budget, TaskId, Usd};
use windlass_engine::{Dispatch, Planning, Submission, SubmittedModel};
use windlass_plan::parse_base_case;
use windlass_workspace::RUNTIME_FILES;

use super::drive::{Before, drive, explain};
use super::load::load_to_work;
use super::order::{OWN_AGENT, Order};
use super::patterns::gather_patterns;
use super::plan_file::plan_to_run;
use super::script::read_script;
use crate::arguments::{self, DeadlineChoice, Limits, Output, SandboxChoice, SandboxName};
use crate::attach::attached;
use crate::config::{Config, DEFAULT_MODEL, OpenAiApi};
use crate::equipment::{BUBBLEWRAP, DOCKER, PROCESS, Wire, wrong_door};
use crate::exit::{Exit, WrongUse};
use crate::patterns::Patterns;
use crate::place;
use crate::show::{Line, Sheet, teller};
use crate::wiring::Windlass;

pub async fn run(arguments: arguments::Run) -> anyhow::Result<Exit> {
    let (plan, waiting) = (arguments.plan.clone(), Waiting::of(&arguments));
    let order = Order::from(arguments);
    let planning = match &plan {
        None => Planning::None,
        Some(file) => {
            contradicted(&order)?;
            Planning::Given(Box::new(plan_to_run(file)?))
        }
    };
    begin(order, planning, waiting).await
}

/// What becomes of whoever asked, once it is taken in.
pub(super) struct Waiting {
    pub detach: bool,
    pub deadline: DeadlineChoice,
    pub output: Output,
}

impl Waiting {
    fn of(arguments: &arguments::Run) -> Self {
        Self { detach: arguments.detach, deadline: arguments.deadline.clone(), output: arguments.output }
    }
}

pub(super) async fn begin(order: Order, planning: Planning, waiting: Waiting) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let patterns = gather_patterns(&config, &order.workspace).await?;
    let mut submission = submission(&order, &config, planning, &patterns)?;
    let windlass = Windlass::open_to_work(config).await?;
    submission.config = with_deadline(submission.config, waiting.deadline.meant(windlass.runtime.wall())?);
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let dispatch = if waiting.detach { Dispatch::ToWorkers } else { Dispatch::Here };
    let task = windlass.engine.submit(submission, dispatch, Some(&key)).await.map_err(explain)?;
    if waiting.detach {
        return leave_to_workers(&windlass, task, waiting.output).await;
    }
    let teller = teller(waiting.output);
    drive(&windlass, task, teller, Before::Taken).await
}

pub(super) async fn leave_to_workers(windlass: &Windlass, task: TaskId, output: Output) -> anyhow::Result<Exit> {
    windlass.engine.close().await?;
    Ok(left_to_workers(task, output).show())
}

pub fn left_to_workers(task: TaskId, output: Output) -> Sheet {
    let mut sheet = Sheet::new();
    match output.json {
        true => sheet.object(&json!({"type": "result", "task_id": task, "detached": true})),
        false => sheet.print(&Line::new().plain(task.to_string())),
    }
    sheet
}

/// What a plan says of each of its items is not said once more for all of them.
pub fn contradicted(order: &Order) -> Result<(), WrongUse> {
    let Limits { max_tokens, max_cost, max_attempts, .. } = &order.limits;
    let said = [
        ("--base-case", !order.base_case.is_empty(), "verify"),
        ("--max-tokens", max_tokens.is_some(), "budget"),
        ("--max-cost", max_cost.is_some(), "budget"),
        ("--max-attempts", max_attempts.is_some(), "budget"),
        ("--agent", order.agent != OWN_AGENT, "agent"),
        ("--pattern", order.pattern.is_some(), "pattern"),
    ];
    match said.into_iter().find(|(_, is_said, _)| *is_said) {
        None => Ok(()),
        Some((flag, _, field)) => Err(WrongUse::new(format!("{flag} says what the plan says already"))
            .hint(format!("write it into the plan: each item has `{field}`; docs/plans.md has every field"))),
    }
}

/// As of now.
pub(super) fn with_deadline(config: ExecutionConfig, deadline: Option<Deadline>) -> ExecutionConfig {
    let (at, action) = deadline.map_or((None, DeadlineAction::default()), |until| (Some(until.at), until.action));
    ExecutionConfig { deadline: at, deadline_action: action, ..config }
}

pub(super) fn submission(
    order: &Order,
    config: &Config,
    planning: Planning,
    patterns: &Patterns,
) -> anyhow::Result<Submission> {
    submission_by(order, config, planning, patterns, || model(order, config))
}

/// The same for whoever knows whom to ask.
pub(super) fn submission_asking(
    order: &Order,
    config: &Config,
    planning: Planning,
    patterns: &Patterns,
    model: (SubmittedModel, String),
) -> anyhow::Result<Submission> {
    submission_by(order, config, planning, patterns, || Ok(model))
}

/// Whom to ask is looked into after what is simply wrong.
fn submission_by(
    order: &Order,
    config: &Config,
    planning: Planning,
    patterns: &Patterns,
    model: impl FnOnce() -> anyhow::Result<(SubmittedModel, String)>,
) -> anyhow::Result<Submission> {
    let goal = match &planning {
        Planning::Given(plan) => plan.0.title.clone(),
        Planning::Aligned(agreed) => agreed.objective.goal.clone(),
        Planning::None | Planning::Wanted | Planning::Aligning => order.goal.clone(),
    };
    if goal.trim().is_empty() {
        let (what, command) = match planning {
            Planning::Wanted => ("request", "plan"),
            Planning::Aligning => ("request", "align"),
            Planning::Aligned(_) => ("goal", "align --goal"),
            Planning::None | Planning::Given(_) => ("goal", "run"),
        };
        let hint = format!("say what should be done: windlass {command} \"…\"");
        return Err(WrongUse::new(format!("the {what} is empty")).hint(hint).into());
    }
    is_known(&order.agent, config)?;
    has_screen(order, &planning, config)?;
    let (model, name) = model()?;
    let workspace = place::workspace(&order.workspace, config)?;
    Ok(Submission {
        goal,
        constraints: order.constraints.clone(),
        attachments: attached(&order.attach, &name, &config.models.find(&name))?,
        config: ExecutionConfig {
            planner_model: planner_model(order, config, &planning),
            terminal: order.terminal,
            ..led(order, &planning, patterns, config, name)?
        },
        agent_id: order.agent.clone(),
        model,
        base_case: base_case(&order.base_case, &workspace, config)?,
        workspace,
        budget: budget(&with_planners(&order.limits, &planning), config)?,
        sandbox: sandbox(&order.sandbox, config)?,
        planning,
    })
}

/// Where a planner works first, its own budget is meant unless another is said: what the work may use stands in the plan.
fn with_planners(limits: &Limits, planning: &Planning) -> Limits {
    let mut limits = limits.clone();
    if !matches!(planning, Planning::None | Planning::Given(_)) {
        let PlanBudget { max_tokens, max_cost_usd } = PlanBudget::default();
        limits.max_tokens.get_or_insert(max_tokens);
        limits.max_cost.get_or_insert(max_cost_usd.as_dollars());
    }
    limits
}

pub(super) fn is_known(agent: &str, config: &Config) -> Result<(), WrongUse> {
    match config.catalogue.names().iter().any(|name| name == agent) {
        true => Ok(()),
        false => {
            Err(WrongUse::new(format!("there is no agent `{agent}`")).hint("`windlass agents` lists those there are"))
        }
    }
}

/// Our own agent has no screen, and those of a plan are chosen by it.
fn has_screen(order: &Order, planning: &Planning, config: &Config) -> Result<(), WrongUse> {
    let has_one = config.catalogue.find(&order.agent).is_some_and(|adapter| adapter.has_screen());
    match order.terminal && !(has_one && matches!(planning, Planning::None)) {
        false => Ok(()),
        true => Err(WrongUse::new(format!("--terminal: the agent `{}` has no screen of its own", order.agent))
            .hint(format!("name one that has: {}", config.catalogue.with_screens().join(", ")))),
    }
}

/// Which provider, and the model's name there. Never a guess between two: the first that is configured, in this order.
fn model(order: &Order, config: &Config) -> anyhow::Result<(SubmittedModel, String)> {
    chosen_model(order.rehearsal.as_deref(), order.model.as_deref(), config)
}

pub(super) fn chosen_model(
    rehearsal: Option<&Path>,
    name: Option<&str>,
    config: &Config,
) -> anyhow::Result<(SubmittedModel, String)> {
    if let Some(path) = rehearsal {
        let (text, _) = read_script(path)?;
        return Ok((SubmittedModel::Rehearsal(text), name.unwrap_or("rehearsal").to_owned()));
    }
    let said = name.map(str::to_owned).or_else(|| config.file.models.executor.clone());
    let named = |door: &crate::config::Door| said.clone().or_else(|| door.model.clone());
    if config.openai.configured {
        wrong_door(config.openai_api.wire(), &config.openai)?;
        let base_url = config.openai.base_url.clone();
        let model = match config.openai_api {
            OpenAiApi::Chat => SubmittedModel::OpenAi { base_url },
            OpenAiApi::Responses => SubmittedModel::OpenAiResponses { base_url },
        };
        return Ok((model, named(&config.openai).unwrap_or_else(|| DEFAULT_MODEL.to_owned())));
    }
    if config.anthropic.configured {
        wrong_door(Wire::Anthropic, &config.anthropic)?;
        let name = named(&config.anthropic)
            .ok_or_else(|| WrongUse::new("no model is named").hint("use --model NAME, or set ANTHROPIC_MODEL"))?;
        return Ok((SubmittedModel::Anthropic { base_url: config.anthropic.base_url.clone() }, name));
    }
    Err(WrongUse::new("no model is configured")
        .hint(
            "set LITELLM_API_BASE and LITELLM_API_KEY (any OpenAI-compatible server) or ANTHROPIC_API_KEY, \
             or play a script with --rehearsal FILE; `windlass demo` needs neither",
        )
        .into())
}

/// Nobody plans for a run without a plan; and who names a model for a command names it for all.
fn planner_model(order: &Order, config: &Config, planning: &Planning) -> Option<String> {
    let is_chosen = order.model.is_none() && order.rehearsal.is_none();
    let is_planned = !matches!(planning, Planning::None);
    config.file.models.planner.clone().filter(|_| is_chosen && is_planned)
}

/// How the work is led. What is decided here stays, whatever becomes of the documents.
fn led(
    order: &Order,
    planning: &Planning,
    patterns: &Patterns,
    config: &Config,
    name: String,
) -> Result<ExecutionConfig, WrongUse> {
    let tactician = order.tactician || !config.models.find(&name).tool_calls;
    let plain = ExecutionConfig { tactician, ..execution_config(&order.limits, config, name) };
    if let Planning::Given(plan) = planning {
        known_patterns(plan, patterns)?;
    }
    if !matches!(planning, Planning::None) {
        return Ok(ExecutionConfig { patterns: patterns.offered(), ..plain });
    }
    // Whoever decides one call at a time has a pattern in any case: it says how much may be read and written.
    let chosen = order.pattern.as_deref().or(tactician.then_some(Pattern::GENERIC));
    let Some(chosen) = chosen else { return Ok(plain) };
    let found = Arc::clone(&patterns.find(chosen)?.pattern);
    Ok(ExecutionConfig { pattern: Some(chosen.to_owned()), patterns: vec![found], ..plain })
}

/// Better now than when an item begins.
pub(super) fn known_patterns(plan: &Plan, patterns: &Patterns) -> Result<(), WrongUse> {
    let Plan(root) = plan;
    root.all().into_iter().try_for_each(|item| match patterns.find(&item.pattern) {
        Err(_) if item.pattern == Pattern::GENERIC => Ok(()),
        found => found.map(drop),
    })
}

fn execution_config(limits: &Limits, config: &Config, model: String) -> ExecutionConfig {
    let default = ExecutionConfig::default();
    ExecutionConfig {
        timeout_seconds: limits.timeout.or(config.timeout_seconds).unwrap_or(default.timeout_seconds),
        max_iterations: limits.max_iterations.or(config.max_iterations).unwrap_or(default.max_iterations),
        model,
        compaction: config.compaction.config(),
        ..default
    }
}

/// A number that has no end cannot be signed.
const LONGEST_TIMEOUT: u64 = 10 * 365 * 86_400;

pub(super) fn budget(limits: &Limits, config: &Config) -> Result<Budget, WrongUse> {
    let default = Budget::default();
    if limits.max_cost.is_some_and(|cost| !cost.is_finite() || cost <= 0.0) {
        return Err(WrongUse::new("--max-cost must be an amount above 0, such as 2.50"));
    }
    let zeroes = [
        ("--max-attempts", limits.max_attempts == Some(0)),
        ("--max-iterations", limits.max_iterations.or(config.max_iterations) == Some(0)),
        ("--timeout", limits.timeout.or(config.timeout_seconds) == Some(0)),
        ("--max-tokens", limits.max_tokens == Some(0)),
    ];
    if let Some((name, _)) = zeroes.iter().find(|(_, is_zero)| *is_zero) {
        return Err(WrongUse::new(format!("{name} must be at least 1")));
    }
    if limits.timeout.or(config.timeout_seconds).is_some_and(|seconds| seconds > LONGEST_TIMEOUT) {
        return Err(WrongUse::new(format!("--timeout must be at most {LONGEST_TIMEOUT} seconds, which is ten years")));
    }
    let max_attempts = limits.max_attempts.unwrap_or(default.max_attempts);
    // Whoever gives an attempt more time means the task to have it.
    let wanted = limits.timeout.or(config.timeout_seconds).unwrap_or_default().saturating_mul(u64::from(max_attempts));
    Ok(Budget {
        max_wall_time_seconds: default.max_wall_time_seconds.max(wanted),
        max_tokens: limits.max_tokens.unwrap_or(default.max_tokens),
        max_cost_usd: limits.max_cost.map_or(default.max_cost_usd, Usd::from_dollars),
        max_attempts,
        ..default
    })
}

/// As they were typed.
pub(super) fn checks(written: &[String]) -> Result<BaseCase, WrongUse> {
    let mut checks = Vec::new();
    for text in written {
        let parsed = parse_base_case(text).map_err(|problems| {
            WrongUse::new(format!("--base-case `{text}`:\n{problems}")).hint("see docs/checks.md")
        })?;
        checks.extend(parsed.0);
    }
    Ok(BaseCase(checks))
}

fn base_case(written: &[String], workspace: &Path, config: &Config) -> Result<BaseCase, WrongUse> {
    let BaseCase(checks) = checks(written)?;
    let protected = || checks.iter().flat_map(|check| &check.protect);
    // Such a path has no baseline to be restored from, so that protecting it would be an empty promise.
    let unprotected = config.file.workspace.carry.iter().map(String::as_str).chain(RUNTIME_FILES.iter().copied());
    let unprotected: Vec<&str> = unprotected.collect();
    if let Some(path) = protected().find(|path| unprotected.iter().any(|folder| Path::new(path).starts_with(folder))) {
        return Err(WrongUse::new(format!("`protect: [{path}]`: this path is no part of the project's snapshots"))
            .hint("protect files outside output/ and the carried paths"));
    }
    // Nor can what is not there: most likely it is called otherwise.
    if let Some(path) = protected().find(|path| workspace.join(path).symlink_metadata().is_err()) {
        return Err(WrongUse::new(format!("`protect: [{path}]`: there is no {path} in {}", workspace.display()))
            .hint("protect files and folders that are there when the task begins"));
    }
    Ok(BaseCase(checks))
}

fn sandbox(choice: &SandboxChoice, config: &Config) -> Result<String, WrongUse> {
    let name = choice.sandbox.or(config.file.sandbox.provider).unwrap_or(SandboxName::Bubblewrap);
    match (name, choice.no_isolation) {
        (SandboxName::Bubblewrap, false) => Ok(BUBBLEWRAP.to_owned()),
        (SandboxName::Docker, false) => Ok(DOCKER.to_owned()),
        (SandboxName::Process, true) => Ok(PROCESS.to_owned()),
        (SandboxName::Process, false) => Err(WrongUse::new(
            "`--sandbox process` confines nothing: commands run as you, with your files and your network",
        )
        .hint("add --no-isolation if that is what you want")),
        (SandboxName::Bubblewrap | SandboxName::Docker, true) => {
            Err(WrongUse::new("--no-isolation goes with `--sandbox process` only"))
        }
    }
}
