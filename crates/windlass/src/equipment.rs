//! What the engine is handed: sandboxes by name, snapshots of a workspace, and the native loop over the model and tools
//! that a task was started with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_adapters::{Adapter, Agent, ForeignRunner, Installed, Means, Screens};
use windlass_agent::{NativeRunner, Settings};
use windlass_domain::execution::Carrier;
use windlass_domain::task::{CompactionConfig, ModelChoice, Part};
use windlass_domain::tool_name::CREATE_SKILL;
use windlass_domain::{
    ContextService, Delegation, Embedder, ErrorCode, ErrorDetails, ExecutionId, Labels, Role, Runner, Runtime,
    SkillSeen, Workspace,
};
use windlass_engine::{Equipment, Furniture, Order};
use windlass_llm::gateway::Upstream;
use windlass_llm::{
    Anthropic, DEFAULT_CONTEXT_WINDOW, Dialect, Endpoint, Models, OpenAi, Provider, Rehearsal, Responses, Script, Setup,
};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, IUnderstandThereIsNoIsolation, Policy, Process, Provider as Sandboxes, Supervisor};
use windlass_tools::skills::Shelf;
use windlass_tools::web::Web;
use windlass_tools::{Confinement, Context, CreateSkill, Kit, Limits, RESEARCH_TOOL_ALLOWLIST, SpawnAgent, Toolset};
use windlass_workspace::{OUTPUT_FOLDER, SnapshotSetup, Snapshots};

use crate::agents::{
    Catalogue, Found, Homes, INSIDE_BRIDGE, INSIDE_HOME, INSIDE_WORKSPACE, OURS, Places, Versions, briefing, find,
    missing, myself, unknown,
};
use crate::config::{Door, FileConfig, SandboxConfig};
use crate::exit::WrongUse;
use crate::mcp::McpServers;
use crate::network::NetworkChoice;
use crate::skills::SkillSources;

pub const BUBBLEWRAP: &str = "bubblewrap";
pub const DOCKER: &str = "docker";
pub const PROCESS: &str = "process";

/// Seed 000 §8.6.
const TOOL_OUTPUT_MAX_TOKENS: usize = 8_000;

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    OpenAi,
    Responses,
    Anthropic,
}

/// Whether a provider can be asked at all: the judgement of a run, before there is one. Nobody is asked anything.
pub fn wrong_door(wire: Wire, door: &Door) -> Result<(), WrongUse> {
    let setup = Setup::new(Arc::new(TokioRuntime::current()));
    let endpoint = Endpoint { base_url: door.base_url.clone(), key: door.key.clone() };
    let opened = match wire {
        Wire::OpenAi => OpenAi::new(endpoint, setup).map(drop),
        Wire::Responses => Responses::new(endpoint, setup).map(drop),
        Wire::Anthropic => Anthropic::new(endpoint, setup).map(drop),
    };
    let variables = match wire {
        Wire::OpenAi | Wire::Responses => "LITELLM_API_BASE and LITELLM_API_KEY",
        Wire::Anthropic => "ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY",
    };
    opened.map_err(|error| WrongUse::new(error.to_string()).hint(format!("look at {variables}")))
}

/// What the operator lets every sandbox over a folder have.
pub fn policy(config: &SandboxConfig, folder: &Path) -> Policy {
    let SandboxConfig { readonly_mounts, env, limits, network, allowed_hosts, .. } = config;
    let mut policy = Policy::new(folder);
    policy.readonly_mounts = readonly_mounts.iter().map(|path| (path.clone(), path.clone())).collect();
    policy.env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    policy.limits = limits.limits();
    policy.network = allowed_hosts.network(*network);
    policy
}

pub struct Workbench {
    pub runtime: Arc<dyn Runtime>,
    pub models: Arc<Models>,
    pub file: FileConfig,
    pub openai: Door,
    pub anthropic: Door,
    pub supervisor: Supervisor,
    pub objects: PathBuf,
    pub data_dir: PathBuf,
    pub tool_output_max_tokens: Option<usize>,
    pub delegation: Delegation,
    pub embedder: Option<Arc<dyn Embedder>>,
    pub context_service: Option<Arc<dyn ContextService>>,
    pub web: Web,
    pub mcp: McpServers,
    pub skills: SkillSources,
    /// Where tasks find theirs again.
    pub shelf: Shelf,
    pub catalogue: Catalogue,
    /// Where coding agents are looked for, and what is known of them.
    pub agents: Places,
    pub homes: Homes,
    pub versions: Versions,
    pub screens: Screens,
}

impl Equipment for Workbench {
    fn sandboxes(&self, name: &str) -> Result<Arc<dyn Sandboxes>, ErrorDetails> {
        match name {
            BUBBLEWRAP => Ok(Arc::new(Bubblewrap::new(self.supervisor.clone()))),
            DOCKER => Ok(Arc::new(self.file.sandbox.docker.provider(self.supervisor.clone()))),
            PROCESS => Ok(Arc::new(Process::new(IUnderstandThereIsNoIsolation, self.supervisor.clone()))),
            other => Err(ErrorDetails::new(
                ErrorCode::SandboxUnavailable,
                format!("this version of windlass has no sandbox called `{other}`"),
            )),
        }
    }

    fn policy(&self, folder: &Path) -> Policy {
        policy(&self.file.sandbox, folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        self.is_itself(folder)?;
        // Deliverables are no part of the project, and still what many a check is about.
        let carry = self.file.workspace.carry.iter().cloned().chain([OUTPUT_FOLDER.to_owned()]).collect();
        let setup = SnapshotSetup::new(folder, &self.objects, carry);
        match Snapshots::open(setup) {
            Ok(snapshots) => Ok(Arc::new(snapshots)),
            Err(error) => Err(ErrorDetails::new(ErrorCode::Internal, error.to_string())),
        }
    }

    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.embedder.clone()
    }

    fn context_service(&self) -> Option<Arc<dyn ContextService>> {
        self.context_service.clone()
    }

    fn skills(&self, folder: &Path, labels: &Labels) -> Result<Vec<SkillSeen>, ErrorDetails> {
        let kept = self.shelf.keep(&self.skills.gather(Some(folder), labels));
        kept.map_err(|error| ErrorDetails::new(ErrorCode::Internal, format!("the skills cannot be kept: {error}")))
    }

    fn skill_folder(&self, skills: &[SkillSeen]) -> Option<PathBuf> {
        (!skills.is_empty()).then(|| self.shelf.place(skills))
    }

    fn carrier(&self, agent: &str) -> Carrier {
        if self.catalogue.find(agent).is_some() { Carrier::Foreign } else { Carrier::Native }
    }

    fn can_fork(&self, agent: &str) -> bool {
        self.catalogue.find(agent).is_some_and(|adapter| adapter.agent().can_fork)
    }

    fn copy_home(&self, agent: &str, from: ExecutionId, to: ExecutionId) -> Result<(), ErrorDetails> {
        let adapter = self.catalogue.find(agent).ok_or_else(|| unknown(agent))?;
        let copied = self.homes.keep(from, to, adapter.kept());
        copied.map_err(|why| ErrorDetails::new(ErrorCode::Internal, why))
    }

    fn furnish(
        &self,
        agent: &str,
        execution: ExecutionId,
        forked: Option<ExecutionId>,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Furniture>, ErrorDetails> {
        let Some(adapter) = self.catalogue.find(agent) else { return Ok(None) };
        let mut installed = Vec::from_iter(self.found(adapter.agent())?.mount);
        if adapter.may_need_bridge() {
            installed.extend(myself().map(|program| (program, PathBuf::from(INSIDE_BRIDGE))));
        }
        let unable = |error: std::io::Error| {
            ErrorDetails::new(ErrorCode::Internal, format!("the agent's home cannot be made: {error}"))
        };
        if let Some(forked) = forked {
            let begun = self.homes.begin_as(forked, execution, adapter.kept(), should_stop);
            begun.map_err(|why| ErrorDetails::new(ErrorCode::Internal, why))?;
        }
        let home = self.homes.make(execution, self.runtime.wall()).map_err(unable)?;
        Ok(Some(Furniture { home, installed }))
    }

    fn homes_unused_for(&self, length: Duration) -> Vec<ExecutionId> {
        self.homes.drop_kept(length, self.runtime.wall());
        self.homes.unused_for(length, self.runtime.wall())
    }

    fn remove_home(&self, execution: ExecutionId) {
        self.homes.remove(execution);
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        self.is_itself(order.created.workspace.as_ref())?;
        // Whoever judges or helps is one of ours, whoever works.
        let foreign = self.catalogue.find(&order.created.agent_id);
        let works = matches!(order.role, Role::Executor | Role::Worker);
        if let Some(adapter) = foreign.filter(|_| works) {
            return self.foreign_runner(adapter, &order);
        }
        // Work that was given to one is never done by another.
        if works && order.created.agent_id != OURS {
            return Err(unknown(&order.created.agent_id));
        }
        let provider = self.provider(&order)?;
        let config = &order.created.command.execution_config;
        let described = self.models.described(&config.model).map(|model| model.context_window);
        let told = config.compaction.context_window_tokens.or(described);
        let compaction = CompactionConfig { context_window_tokens: told, ..config.compaction };
        let window = told.unwrap_or(DEFAULT_CONTEXT_WINDOW);
        let most = self.tool_output_max_tokens.unwrap_or(TOOL_OUTPUT_MAX_TOKENS);
        let output_tokens = most.min(usize::try_from(window / 4).unwrap_or(usize::MAX));
        let internal = |error: windlass_tools::Error| ErrorDetails::new(ErrorCode::Internal, error.to_string());
        let limits = Limits { output_tokens };
        let kit = match order.created.part_of.as_ref().map(|of| &of.part) {
            Some(Part::Plan { aligns: true, .. }) if order.role == Role::Planner => Kit::alignment(),
            Some(Part::Correction {}) => Kit::planner().without("request_research").without("validate_plan"),
            _ => kit(order.role, self.confinement(&order.created.sandbox)),
        };
        let kit = generating(kit, &order).map_err(internal)?;
        let kit = self.mcp.join(kit, &order.sandbox)?;
        let kit = self.file.browser.join(kit, &order.created.sandbox, &self.file.sandbox).map_err(internal)?;
        let mut context =
            Context::new(order.folder, order.sandbox, Arc::clone(&self.runtime), limits).map_err(internal)?;
        let skills = self.shelf.open(&order.created.skills);
        context.skills = skills.map_err(|lost| ErrorDetails::new(ErrorCode::Internal, lost))?;
        context.web = self.web.clone();
        let tools = Toolset::new(context, self.delegating(kit, order.depth).map_err(internal)?);
        Ok(Arc::new(NativeRunner {
            models: Arc::clone(&self.models),
            provider,
            tools: Arc::new(tools),
            runtime: Arc::clone(&self.runtime),
            settings: Settings {
                compaction,
                doom_loop: self.file.doom_loop,
                delegation: self.delegation,
                ..Settings::default()
            },
        }))
    }
}

/// A key goes to the server that it stands beside and to no other, whatever the task was begun with.
fn endpoint(base_url: &str, door: &Door) -> Result<Endpoint, ErrorDetails> {
    match *base_url == door.base_url {
        true => Ok(Endpoint { base_url: base_url.to_owned(), key: door.key.clone() }),
        false => Err(ErrorDetails::new(
            ErrorCode::ModelUnavailable,
            format!("the task was begun with the model server {base_url}, which is not configured here"),
        )),
    }
}

fn misconfigured(error: windlass_llm::Error) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::ModelRejected, error.to_string())
}

/// What the agent is told about its confinement depends on the sandbox. Who only judges, plans or looks has no tool that
/// changes anything; a judge has none at all.
fn kit(role: Role, confinement: Confinement) -> Kit {
    match role {
        Role::Verifier => Kit::none(),
        Role::Proxy => Kit::proxy(),
        Role::Planner => Kit::planner(),
        Role::Researcher => Kit::research(RESEARCH_TOOL_ALLOWLIST),
        Role::Probe => Kit::read_only(),
        // Nobody but the agent that the task was given to asks for anything, or waits for it.
        Role::Subagent => Kit::executor(confinement).without("ask_user").without("monitor"),
        // Whom it spawned would have to be given tools.
        Role::Tactician => Kit::executor(confinement).without("spawn_agent"),
        Role::Executor | Role::Worker => Kit::executor(confinement),
    }
}

/// Only work whose pattern says so makes skills.
fn generating(kit: Kit, order: &Order<'_>) -> Result<Kit, windlass_tools::Error> {
    let leading = order.created.leading().ok().flatten();
    let is_step = leading.is_some_and(|pattern| pattern.steps.iter().any(|step| step.has(CREATE_SKILL)));
    let works = matches!(order.role, Role::Executor | Role::Tactician);
    if is_step && works { kit.with(vec![Box::new(CreateSkill)]) } else { Ok(kit) }
}

impl Workbench {
    /// A folder was agreed to by its name without links. Whoever has put a link in its way since then means another one.
    fn is_itself(&self, folder: &Path) -> Result<(), ErrorDetails> {
        if folder.starts_with(&self.data_dir) {
            return Ok(());
        }
        match folder.canonicalize() {
            Ok(now) if now != folder => Err(ErrorDetails::new(
                ErrorCode::SandboxUnavailable,
                format!(
                    "{} leads to {} now, and was a folder of its own when this was agreed to; put it back and go on",
                    folder.display(),
                    now.display()
                ),
            )),
            // One that is not there is missed by whoever opens it.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn found(&self, agent: &Agent) -> Result<Found, ErrorDetails> {
        find(agent, &self.agents).ok_or_else(|| missing(agent))
    }

    fn foreign_runner(&self, adapter: Arc<dyn Adapter>, order: &Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let found = self.found(adapter.agent())?;
        let is_confined = order.created.sandbox != PROCESS;
        let known_as = found.known_as();
        let (program, home, workspace) = match is_confined {
            true => (found.inside, PathBuf::from(INSIDE_HOME), PathBuf::from(INSIDE_WORKSPACE)),
            false => (found.program, self.homes.of(order.execution), order.folder.to_path_buf()),
        };
        let bridge = myself().filter(|_| adapter.may_need_bridge());
        let bridge = bridge.map(|program| if is_confined { PathBuf::from(INSIDE_BRIDGE) } else { program });
        let mut setup = Setup::new(Arc::clone(&self.runtime));
        setup.models = Arc::clone(&self.models);
        Ok(Arc::new(ForeignRunner {
            bridge,
            installed: Installed { program, known_as, versions: self.versions.clone() },
            sandbox: Arc::clone(&order.sandbox),
            home,
            workspace,
            upstream: self.upstream(order)?,
            model: order.created.command.execution_config.model.clone(),
            setup,
            briefing: briefing(),
            patience: self.file.agents.patience(),
            means: match order.created.command.execution_config.terminal {
                true => Means::Screen(self.screens.clone()),
                false => Means::Channel { otherwise: Some(self.screens.clone()) },
            },
            adapter,
        }))
    }

    /// Who stands behind a foreign agent's model.
    fn upstream(&self, order: &Order<'_>) -> Result<Upstream, ErrorDetails> {
        let model = |dialect, base_url: &String, door: &Door| {
            Ok(Upstream::Model { dialect, endpoint: endpoint(base_url, door)? })
        };
        match &order.created.model {
            ModelChoice::OpenAi { base_url, .. } => model(Dialect::Chat, base_url, &self.openai),
            ModelChoice::OpenAiResponses { base_url, .. } => model(Dialect::Responses, base_url, &self.openai),
            ModelChoice::Anthropic { base_url, .. } => model(Dialect::Messages, base_url, &self.anthropic),
            ModelChoice::Rehearsal { .. } => {
                let script = Script::parse(order.script.as_deref().unwrap_or_default());
                let script = script.map_err(|problems| misconfigured(problems.into()))?;
                // A track of its own name where there is one, as for everybody.
                let names = [order.created.agent_id.as_str(), order.role.as_str()];
                let track = names.into_iter().find(|name| script.tracks().any(|track| track == *name));
                let track = track.unwrap_or("default").to_owned();
                Ok(Upstream::Rehearsal { script: Arc::new(script), track })
            }
        }
    }

    /// Who stands at the end of the line spawns nobody, and is not told of it.
    fn delegating(&self, kit: Kit, depth: u32) -> Result<Kit, windlass_tools::Error> {
        let default_timeout_seconds = self.delegation.default_timeout_seconds;
        match self.delegation.may_spawn(depth) {
            false => Ok(kit.without("spawn_agent")),
            true if default_timeout_seconds == Delegation::default().default_timeout_seconds => Ok(kit),
            true => kit.without("spawn_agent").with(vec![Box::new(SpawnAgent { default_timeout_seconds })]),
        }
    }

    fn confinement(&self, sandbox: &str) -> Confinement {
        match (sandbox, self.file.sandbox.network) {
            (PROCESS, _) => Confinement::Nothing,
            (_, NetworkChoice::Restricted) => Confinement::Restricted,
            (_, NetworkChoice::None) => Confinement::Sealed,
        }
    }

    fn provider(&self, order: &Order<'_>) -> Result<Arc<dyn Provider>, ErrorDetails> {
        let mut setup = Setup::new(Arc::clone(&self.runtime));
        setup.models = Arc::clone(&self.models);
        Ok(match (&order.created.model, &order.script) {
            (ModelChoice::OpenAi { base_url, .. }, _) => {
                Arc::new(OpenAi::new(endpoint(base_url, &self.openai)?, setup).map_err(misconfigured)?)
            }
            (ModelChoice::OpenAiResponses { base_url, .. }, _) => {
                Arc::new(Responses::new(endpoint(base_url, &self.openai)?, setup).map_err(misconfigured)?)
            }
            (ModelChoice::Anthropic { base_url, .. }, _) => {
                Arc::new(Anthropic::new(endpoint(base_url, &self.anthropic)?, setup).map_err(misconfigured)?)
            }
            (ModelChoice::Rehearsal { .. }, script) => {
                let script = Script::parse(script.as_deref().unwrap_or_default());
                let script = script.map_err(|problems| misconfigured(problems.into()))?;
                Arc::new(Rehearsal::new(Arc::new(script), setup))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INV-04: only who does the work can act.
    #[test]
    fn every_role_has_the_kit_that_it_is_for() {
        let acts = ["bash", "write", "edit", "python_exec", "skill_exec", "spawn_agent", "save_memo"];
        let can_act = |role| acts.iter().any(|tool| kit(role, Confinement::Sealed).has(tool));
        for role in [Role::Proxy, Role::Planner, Role::Researcher, Role::Probe, Role::Verifier] {
            assert!(!can_act(role), "{role:?}");
        }
        let tactician = kit(Role::Tactician, Confinement::Sealed);
        assert!(tactician.has("bash") && !tactician.has("spawn_agent"));
        for role in [Role::Executor, Role::Worker, Role::Subagent] {
            assert!(acts.iter().all(|tool| kit(role, Confinement::Sealed).has(tool)), "{role:?}");
        }
        let has = |role, tool| kit(role, Confinement::Sealed).has(tool);
        assert!(has(Role::Proxy, "tell_user") && !has(Role::Planner, "tell_user"));
        assert!(has(Role::Planner, "request_research") && !has(Role::Proxy, "request_research"));
        assert!(has(Role::Researcher, "web_search") && !has(Role::Planner, "web_search"));
        assert!(has(Role::Executor, "web_fetch") && !has(Role::Researcher, "web_fetch"));
        assert!(has(Role::Executor, "ask_user") && !has(Role::Subagent, "ask_user"));
    }
}
