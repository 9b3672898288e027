//! What the operator's configuration makes of requests to `windlass serve`: which folder, model, sandbox and limits a task has, and
//! who signs. Whoever asks chooses among what the operator has listed, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use windlass_api::{
    CheckRequest, Checked, CommandTold, DeadlineWord, ForkRequest, GateTried, GateTryRequest, GoalRequest,
    LimitsRequest, PlanningWord, SayRequest, Scope, Settings, TaskRequest,
};
use windlass_domain::approval::WorstCase;
use windlass_domain::graph::{Change, GraphState};
use windlass_domain::plan::{AtomId, Plan, PlanBudget};
use windlass_domain::role_output::WantedChange;
use windlass_domain::task::{Deadline, DeadlineAction};
use windlass_domain::{BoxFuture, Budget, Secret, Tenant, Wall};
use windlass_engine::{Engine, Fork, GoalOrder, OwnerKey, Planning, Sent, Submission, fit_goal, read_plan};
use windlass_plan::change_of;
use windlass_server::Refusal;
use windlass_server::auth::{Caller, fingerprint};
use windlass_server::port::{Hook, House, Journal as _, Said, View, Word};

use super::audit_verify::verified;
use super::errand::Errand;
use super::fork::{AskedFor, folder_of, submission_asked_for};
use super::order::{OWN_AGENT, Order};
use super::run::{budget, checks, contradicted, is_known, known_patterns, submission, with_deadline};
use super::say::template;
use super::send;
use super::serve_documents::checked;
use super::serve_gates::gates_tried;
use super::serve_views::view;
use crate::arguments::{Limits, MOST_FIXES, SandboxChoice, Serve};
use crate::attach::Attachment;
use crate::config::Config;
use crate::exit::WrongUse;
use crate::moment::moment;
use crate::patterns::Patterns;
use crate::serving::{Cap, Roots};
use crate::show::{Line, WorkerLog, change_lines, headline};
use crate::wiring::Windlass;

/// What `windlass serve` was started with for all tasks.
#[derive(Clone)]
pub struct Wanted {
    roots: Roots,
    model: Option<String>,
    rehearsal: Option<PathBuf>,
    sandbox: SandboxChoice,
}

impl Wanted {
    pub fn of(arguments: &Serve, roots: Roots) -> Self {
        let Serve { model, rehearsal, sandbox, .. } = arguments;
        Self { roots, model: model.clone(), rehearsal: rehearsal.clone(), sandbox: sandbox.clone() }
    }
}

#[derive(Clone)]
pub struct ServedHouse {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    wanted: Wanted,
    windlass: Windlass,
    log: WorkerLog,
}

impl ServedHouse {
    pub fn new(config: Config, wanted: Wanted, windlass: &Windlass, log: &WorkerLog) -> Self {
        let (windlass, log) = (windlass.clone(), log.clone());
        Self { inner: Arc::new(Inner { config, wanted, windlass, log }) }
    }
}

impl Inner {
    /// What is wrong in words for whoever asked, where it is theirs to mend.
    fn refuse(&self, error: &anyhow::Error) -> Refusal {
        match error.downcast_ref::<WrongUse>() {
            Some(wrong) => unfit(wrong),
            None => error.downcast_ref().and_then(Refusal::of).unwrap_or_else(|| {
                self.log.trouble(&format!("{error:#}"));
                Refusal::broken()
            }),
        }
    }

    /// In one of those that the operator has listed for the tenant, wherever links lead.
    fn folder(&self, tenant: &Tenant, named: Option<&str>) -> Result<PathBuf, WrongUse> {
        let roots = self.wanted.roots.of_tenant(tenant);
        let first = roots.first().ok_or_else(|| {
            WrongUse::new("no folder is listed for this tenant")
                .hint("the operator lists them in `[tenants.NAME] workspaces`")
        })?;
        let Some(named) = named.filter(|named| !named.is_empty()) else { return Ok(first.clone()) };
        let outside = || WrongUse::new("there is no such folder among those that are listed for this tenant");
        let folder = first.join(Path::new(named)).canonicalize().map_err(|_| outside())?;
        match roots.iter().any(|root| folder.starts_with(root)) {
            true => Ok(folder),
            false => Err(outside()),
        }
    }

    /// In folders that the operator has listed, and confined as the operator says.
    fn settled(&self, tenant: &Tenant, mut errand: Errand) -> Result<Errand, WrongUse> {
        if let Some(folder) = errand.folder() {
            *folder = self.folder(tenant, folder.to_str())?;
        }
        let Wanted { model, rehearsal, sandbox, .. } = &self.wanted;
        match &mut errand {
            // To whoever is not the operator the programs are named, and none is started.
            Errand::Agents(arguments) => arguments.no_versions |= *tenant != Tenant::local(),
            // Its model is the one that it asked, unless somebody names another.
            Errand::Fork(arguments, _) => {
                arguments.sandbox = sandbox.clone();
                self.cap(tenant).fill(&mut arguments.limits, &Budget::default());
            }
            Errand::GoalsAdd(arguments, _) => {
                self.cap(tenant).fill(&mut arguments.limits, &Budget::default());
                (arguments.rehearsal, arguments.sandbox) = (rehearsal.clone(), sandbox.clone());
                arguments.model = arguments.model.take().or_else(|| model.clone());
            }
            Errand::Align(arguments, _) => {
                self.cap(tenant).fill_planner(&mut arguments.limits);
                (arguments.rehearsal, arguments.sandbox) = (rehearsal.clone(), sandbox.clone());
                arguments.model = arguments.model.take().or_else(|| model.clone());
            }
            _ => {}
        }
        Ok(errand)
    }

    fn cap(&self, tenant: &Tenant) -> Cap {
        Cap::of(tenant, &self.config.file.server, &self.config.file.tenants)
    }

    /// Those there are for work in this folder, whose files are as trustworthy as the tenant's own records say.
    async fn patterns(&self, tenant: &Tenant, folder: &Path) -> anyhow::Result<Patterns> {
        let labels = self.windlass.engine.for_tenant(tenant.clone()).labels(folder).await?;
        Ok(Patterns::gather(&self.config, Some(folder), &labels))
    }

    /// What the operator chose for all tasks, with this goal.
    fn order(&self, workspace: PathBuf, goal: String, model: Option<String>) -> Order {
        let Wanted { model: ours, rehearsal, sandbox, .. } = &self.wanted;
        Order {
            model: model.or_else(|| ours.clone()),
            rehearsal: rehearsal.clone(),
            sandbox: sandbox.clone(),
            ..Order::new(goal, workspace)
        }
    }

    async fn task(&self, tenant: &Tenant, word: Word, request: TaskRequest) -> anyhow::Result<Submission> {
        let deadline = deadline(&request, self.windlass.runtime.wall())?;
        let folder = self.folder(tenant, request.workspace.as_deref())?;
        let mut order = self.order(folder, request.goal.clone(), request.model);
        order.constraints = request.constraints;
        order.base_case = request.base_case;
        order.agent = request.agent.unwrap_or(order.agent);
        order.pattern = request.pattern;
        order.terminal = request.terminal;
        order.tactician = request.tactician;
        order.attach = request.attachments.into_iter().map(Attachment::Sent).collect();
        let cap = self.cap(tenant);
        order.limits = limits(&request.limits, request.planning, cap);
        if request.planning != PlanningWord::Given {
            cap.holds(&budget(&order.limits, &self.config)?)?;
        }
        let patterns = self.patterns(tenant, &order.workspace).await?;
        let planning = match (request.planning, word) {
            (PlanningWord::None, Word::Approves) => Planning::None,
            // Nobody signs for it yet: a plan of one item is asked about like any other.
            (PlanningWord::None, Word::Asks) => {
                let plan = self.to_be_asked_about(&mut order, cap)?;
                known_patterns(&plan, &patterns)?;
                Planning::Given(Box::new(plan))
            }
            (PlanningWord::Wanted, _) => Planning::Wanted,
            (PlanningWord::Aligning, _) => Planning::Aligning,
            (PlanningWord::Given, _) => {
                contradicted(&order)?;
                let plan = read_plan(request.document.as_deref().unwrap_or_default());
                let plan =
                    plan.map_err(|problems| WrongUse::new(told(&problems)).hint("docs/plans.md has every field"))?;
                cap.holds_plan(&plan)?;
                Planning::Given(Box::new(plan))
            }
        };
        let mut wanted = submission(&order, &self.config, planning, &patterns)?;
        wanted.config = with_deadline(wanted.config, deadline);
        Ok(wanted)
    }

    async fn fork(&self, tenant: &Tenant, fork: &Fork, request: ForkRequest) -> anyhow::Result<Submission> {
        // Perhaps it is not one of those any more, or never was.
        let workspace = self.folder(tenant, Some(&fork.created.workspace))?;
        let cap = self.cap(tenant);
        let limits = limits(&request.limits, PlanningWord::None, cap);
        let patterns = self.patterns(tenant, &workspace).await?;
        let asked = AskedFor { request, workspace, limits, sandbox: self.wanted.sandbox.clone() };
        let submission = submission_asked_for(asked, (&self.config, &patterns), fork)?;
        cap.holds(&submission.budget)?;
        Ok(submission)
    }

    /// A plan of one item that says what the order says: who works on it, how, for how much, and when it is done.
    fn to_be_asked_about(&self, order: &mut Order, cap: Cap) -> anyhow::Result<Plan> {
        is_known(&order.agent, &self.config)?;
        let mut plan = Plan::of_one(AtomId::parse("task")?, headline(&order.goal), order.goal.clone());
        plan.0.verify = checks(&std::mem::take(&mut order.base_case))?;
        plan.0.budget = budget(&order.limits, &self.config)?;
        plan.0.plan_budget = cap.fill_plan(plan.0.plan_budget);
        plan.0.agent = std::mem::replace(&mut order.agent, OWN_AGENT.to_owned());
        if let Some(pattern) = order.pattern.take() {
            plan.0.pattern = pattern;
        }
        Ok(plan)
    }

    async fn saying(&self, tenant: &Tenant, request: SayRequest) -> anyhow::Result<Submission> {
        let folder = self.folder(tenant, request.workspace.as_deref())?;
        let mut order = self.order(folder, request.message, request.model);
        order.attach = request.attachments.into_iter().map(Attachment::Sent).collect();
        let cap = self.cap(tenant);
        order.limits = limits(&request.limits, PlanningWord::Wanted, cap);
        cap.holds(&budget(&order.limits, &self.config)?)?;
        let patterns = self.patterns(tenant, &order.workspace).await?;
        template(&order, &self.config, &patterns)
    }

    async fn goal(&self, tenant: &Tenant, request: GoalRequest) -> anyhow::Result<GoalOrder> {
        let plan = read_plan(&request.document)
            .map_err(|problems| WrongUse::new(told(&problems)).hint("docs/goals.md shows one"))?;
        fit_goal(&plan).map_err(super::drive::explain)?;
        let cap = self.cap(tenant);
        cap.holds_plan(&plan)?;
        let folder = self.folder(tenant, request.workspace.as_deref())?;
        let mut order = self.order(folder, plan.0.title.clone(), request.model);
        order.limits = limits(&LimitsRequest::default(), PlanningWord::None, cap);
        let patterns = self.patterns(tenant, &order.workspace).await?;
        known_patterns(&plan, &patterns)?;
        let mut with = submission(&order, &self.config, Planning::None, &patterns)?;
        // Its fixes are items of plans.
        (with.config.pattern, with.config.patterns) = (None, patterns.offered());
        Ok(GoalOrder { plan, with, max_fixes: request.max_fixes.unwrap_or(MOST_FIXES) })
    }
}

fn unfit(wrong: &WrongUse) -> Refusal {
    let refusal = Refusal::unfit(wrong.message.clone());
    wrong.hint.clone().into_iter().fold(refusal, Refusal::hint)
}

/// As of now.
fn deadline(request: &TaskRequest, now: Wall) -> Result<Option<Deadline>, WrongUse> {
    let action = match request.deadline_action {
        Some(_) if request.deadline.is_none() => {
            return Err(
                WrongUse::new("`deadline_action` says what becomes of it at no time").hint("say `deadline`, too")
            );
        }
        None | Some(DeadlineWord::Fail) => DeadlineAction::Fail,
        Some(DeadlineWord::CompletePartial) => DeadlineAction::CompletePartial,
        Some(DeadlineWord::PauseAndNotify) => DeadlineAction::PauseAndNotify,
    };
    let at = request.deadline.as_deref().map(|text| moment("deadline", text, now)).transpose()?;
    Ok(at.map(|at| Deadline { at, action }))
}

fn told(problems: &windlass_plan::Problems) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Where a planner works first, its own budget is meant. What a plan has is said in it.
fn limits(request: &LimitsRequest, planning: PlanningWord, cap: Cap) -> Limits {
    let &LimitsRequest { max_iterations, timeout_seconds: timeout, max_tokens, max_cost_usd: max_cost, max_attempts } =
        request;
    let mut limits = Limits { max_iterations, timeout, max_tokens, max_cost, max_attempts };
    let unless_said = match planning {
        PlanningWord::Given => return limits,
        PlanningWord::None => Budget::default(),
        PlanningWord::Wanted | PlanningWord::Aligning => {
            let PlanBudget { max_tokens, max_cost_usd } = PlanBudget::default();
            Budget { max_tokens, max_cost_usd, ..Budget::default() }
        }
    };
    cap.fill(&mut limits, &unless_said);
    limits
}

impl House for ServedHouse {
    fn task(
        &self,
        tenant: &Tenant,
        word: Word,
        request: TaskRequest,
    ) -> BoxFuture<'static, Result<Submission, Refusal>> {
        let (inner, tenant) = (Arc::clone(&self.inner), tenant.clone());
        Box::pin(async move { inner.task(&tenant, word, request).await.map_err(|error| inner.refuse(&error)) })
    }

    fn fork(
        &self,
        tenant: &Tenant,
        fork: Fork,
        request: ForkRequest,
    ) -> BoxFuture<'static, Result<Submission, Refusal>> {
        let (inner, tenant) = (Arc::clone(&self.inner), tenant.clone());
        Box::pin(async move { inner.fork(&tenant, &fork, request).await.map_err(|error| inner.refuse(&error)) })
    }

    fn saying(&self, tenant: &Tenant, request: SayRequest) -> BoxFuture<'static, Result<Submission, Refusal>> {
        let (inner, tenant) = (Arc::clone(&self.inner), tenant.clone());
        Box::pin(async move { inner.saying(&tenant, request).await.map_err(|error| inner.refuse(&error)) })
    }

    fn goal(&self, tenant: &Tenant, request: GoalRequest) -> BoxFuture<'static, Result<GoalOrder, Refusal>> {
        let (inner, tenant) = (Arc::clone(&self.inner), tenant.clone());
        Box::pin(async move { inner.goal(&tenant, request).await.map_err(|error| inner.refuse(&error)) })
    }

    fn checked(&self, request: &CheckRequest) -> Checked {
        checked(request)
    }

    fn gates_tried(&self, request: GateTryRequest) -> GateTried {
        gates_tried(&self.inner.config.law, request)
    }

    fn settings(&self, tenant: &Tenant) -> Settings {
        let Inner { config, wanted, .. } = &*self.inner;
        let (max_tokens, max_cost_usd, max_attempts) = self.inner.cap(tenant).told();
        let models = &config.file.models;
        Settings {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workspaces: wanted.roots.of_tenant(tenant).iter().map(|root| root.display().to_string()).collect(),
            model: wanted.model.clone().or_else(|| models.executor.clone()),
            planner_model: models.planner.clone(),
            proxy_model: models.proxy.clone(),
            max_tokens,
            max_cost_usd,
            max_attempts,
        }
    }

    fn folder(&self, tenant: &Tenant, named: Option<&str>) -> Result<PathBuf, Refusal> {
        self.inner.folder(tenant, named).map_err(|error| self.inner.refuse(&error.into()))
    }

    fn may_redirect(
        &self,
        tenant: &Tenant,
        change: &Change,
        was: Option<WorstCase>,
        comes_to: WorstCase,
    ) -> Result<(), Refusal> {
        let held = self.inner.cap(tenant).holds_change(change, was, comes_to);
        held.map_err(|error| self.inner.refuse(&error.into()))
    }

    fn change(&self, wanted: &Value, graph: &GraphState) -> Result<(Change, String), Refusal> {
        let wanted: WantedChange = serde_json::from_value(wanted.clone())
            .map_err(|error| Refusal::unfit(format!("`change` cannot be read: {error}")))?;
        change_of(&wanted, graph).map_err(|why| Refusal::unfit(why.to_string()))
    }

    fn differences(&self, change: &Change, graph: &GraphState) -> Vec<String> {
        change_lines(change, graph).iter().map(Line::text).collect()
    }

    fn owner_key(&self) -> Result<OwnerKey, Refusal> {
        self.inner.windlass.keys.owner().map_err(|refused| {
            self.inner.log.trouble(&refused.to_string());
            Refusal::broken()
        })
    }

    fn verify_audit(
        &self,
        engine: Engine,
        tenant: &Tenant,
    ) -> BoxFuture<'static, Result<(bool, u64, String), Refusal>> {
        let (inner, tenant) = (Arc::clone(&self.inner), tenant.clone());
        Box::pin(async move {
            verified(&engine, &inner.windlass.heads, &tenant).await.map_err(|error| inner.refuse(&error))
        })
    }

    fn view(&self, engine: Engine, tenant: &Tenant, wanted: View) -> BoxFuture<'static, Result<Value, Refusal>> {
        let (inner, folder) = (Arc::clone(&self.inner), self.inner.wanted.roots.of_tenant(tenant).first().cloned());
        Box::pin(async move {
            view(&inner.config, &engine, folder.as_deref(), wanted).await.map_err(|error| inner.refuse(&error))
        })
    }

    fn command(
        &self,
        engine: Engine,
        caller: &Caller,
        scope: Scope,
        command: Value,
    ) -> BoxFuture<'static, Result<CommandTold, Refusal>> {
        let inner = Arc::clone(&self.inner);
        let cap = inner.cap(&caller.tenant);
        let windlass = inner.windlass.as_seen_by(engine, caller.tenant.clone(), caller.name.clone(), cap);
        Box::pin(async move {
            let mut errand: Errand = serde_json::from_value(command).map_err(|error| {
                Refusal::unfit(format!("there is no such command here: {error}"))
                    .hint("use a `windlass` of the same version as the server")
            })?;
            if errand.scope() != scope {
                return Err(Refusal::unfit(format!("this command is asked for where `{}` is needed", errand.scope())));
            }
            if errand.is_the_operators() && windlass.tenant != Tenant::local() {
                return Err(Refusal::operators());
            }
            // Perhaps it is not one of those any more, or never was.
            if let Errand::Fork(arguments, _) = &mut errand
                && arguments.workspace.is_none()
            {
                let folder = folder_of(&windlass.engine, arguments).await.map_err(|error| inner.refuse(&error))?;
                arguments.workspace = Some(folder);
            }
            let errand = inner.settled(&windlass.tenant, errand).map_err(|error| inner.refuse(&error.into()))?;
            let told = Box::pin(errand.carried_out(&windlass, &inner.config)).await;
            // It may have done several things before one of them broke.
            let told = told.map_err(|error| inner.refuse(&error).perhaps_done())?;
            let (said, exit) = told.told();
            Ok(CommandTold { said, exit })
        })
    }

    fn tell(&self, engine: Engine, caller: &Caller, said: Said) -> BoxFuture<'static, Result<Sent, Refusal>> {
        let inner = Arc::clone(&self.inner);
        let cap = inner.cap(&caller.tenant);
        let windlass = inner.windlass.as_seen_by(engine, caller.tenant.clone(), caller.name.clone(), cap);
        let Said { task, question, kind, text } = said;
        Box::pin(async move {
            let said = send::Said { task, question, kind: Some(kind), text };
            let told = Box::pin(send::tell_all(&windlass, &inner.config, said)).await;
            told.map_err(|error| match error.downcast_ref::<WrongUse>() {
                // It may be heard at another time, by whoever works then.
                Some(wrong) => Refusal { status: StatusCode::CONFLICT, code: "not_heard", ..unfit(wrong) },
                None => inner.refuse(&error),
            })
        })
    }

    fn metrics(&self) -> String {
        self.inner.windlass.observing.registry.to_prometheus()
    }

    fn webhook_key(&self, tenant: &Tenant, source: &str) -> Option<Secret> {
        let file = &self.inner.config.file;
        let webhooks = match *tenant == Tenant::local() {
            true => &file.server.webhooks,
            false => &file.tenants.get(tenant.as_str())?.webhooks,
        };
        self.inner.config.keys.of(Some(&webhooks.get(source)?.key_env))
    }

    fn hook(&self, path: &str) -> Option<Hook> {
        let Inner { config, .. } = &*self.inner;
        let of_tenants = config.file.tenants.iter().map(|(name, tenant)| (Tenant::new(name), &tenant.webhooks));
        let all = of_tenants.chain([(Tenant::local(), &config.file.server.webhooks)]);
        let named =
            all.flat_map(|(tenant, hooks)| hooks.iter().map(move |(source, hook)| (tenant.clone(), source, hook)));
        // Their digests are compared, so that how long that takes says nothing of how much of it was guessed.
        let said = fingerprint(path);
        let is_it = |known: Option<Secret>| known.is_some_and(|known| fingerprint(known.expose()) == said);
        let mut known =
            named.filter(|(_, _, hook)| hook.path_env.is_some() && is_it(config.keys.of(hook.path_env.as_ref())));
        let (tenant, source, hook) = known.next()?;
        Some(Hook { tenant, source: source.clone(), key: config.keys.of(Some(&hook.key_env))? })
    }
}
