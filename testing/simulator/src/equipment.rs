//! What a simulated process hands its engine: the world's files and sandboxes, a rehearsal, the real tools and the real
//! loop. What is costly to build and never changes is built once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use windlass_agent::{NativeRunner, Settings};
use windlass_domain::execution::{Launch, Outcome};
use windlass_domain::tool_name::ASK_USER;
use windlass_domain::{BoxFuture, ErrorCode, ErrorDetails, Host, Role, Runner, Runtime, Workspace};
use windlass_engine::{Equipment, Order, Tripwire, TripwirePoint};
use windlass_llm::{Deadlines, Models, Rehearsal, Retries, Script, Setup};
use windlass_sandbox::{Policy, Provider};
use windlass_tools::{Confinement, Context, Kit, Limits, RESEARCH_TOOL_ALLOWLIST, Toolset};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::careless::Careless;
use crate::fuse::Point;
use crate::model::ProcessModel;
use crate::plant::Plant;
use crate::process::Process;
use crate::sandbox::ScriptedSandboxes;
use crate::witness::Witness;

/// A sandbox whose commands reach the network.
pub const OPEN: &str = "open";

/// Small, so that a flood of a few lines is one.
const TOOL_OUTPUT_TOKENS: usize = 100;

static MODELS: LazyLock<Arc<Models>> = LazyLock::new(|| Arc::new(Models::built_in()));

pub struct ProcessEquipment {
    pub process: Process,
    pub sandboxes: Arc<ScriptedSandboxes>,
    pub objects: PathBuf,
    pub witness: Witness,
}

impl Equipment for ProcessEquipment {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::clone(&self.sandboxes) as Arc<dyn Provider>)
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let snapshots = Snapshots::open(SnapshotSetup::new(folder, &self.objects, Vec::new()));
        let snapshots = snapshots.map_err(|error| internal(&error))?;
        Ok(match self.sandboxes.plant {
            Plant::EditsOverwritten => Arc::new(Careless(snapshots)),
            _ => Arc::new(snapshots),
        })
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let runtime: Arc<dyn Runtime> = Arc::new(self.process.clone());
        let setup = Setup {
            runtime: Arc::clone(&runtime),
            models: Arc::clone(&MODELS),
            retries: Retries::default(),
            deadlines: Deadlines::default(),
        };
        let inner = Rehearsal::new(script(order.script.unwrap_or_default())?, setup);
        let confinement = match order.created.sandbox.as_str() {
            OPEN => Confinement::Nothing,
            _ => Confinement::Sealed,
        };
        let limits = Limits { output_tokens: TOOL_OUTPUT_TOKENS };
        let context = Context::new(order.folder, order.sandbox, Arc::clone(&runtime), limits);
        let kit = match order.role {
            Role::Planner => Kit::planner(),
            Role::Researcher => Kit::research(RESEARCH_TOOL_ALLOWLIST),
            _ => Kit::executor(confinement),
        };
        let kit = if order.role == Role::Subagent { kit.without(ASK_USER) } else { kit };
        let tools = Toolset::new(context.map_err(|error| internal(&error))?, kit);
        let native = NativeRunner {
            provider: Arc::new(ProcessModel { process: self.process.clone(), inner }),
            tools: Arc::new(tools),
            runtime,
            settings: Settings { compaction: order.created.command.execution_config.compaction, ..Settings::default() },
            models: Arc::new(windlass_llm::Models::built_in()),
        };
        Ok(Arc::new(WitnessedRunner { native, process: self.process.clone(), witness: self.witness.clone() }))
    }
}

/// Every process of a history plays the same one.
fn script(text: String) -> Result<Arc<Script>, ErrorDetails> {
    static LAST: Mutex<Option<(String, Arc<Script>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((known, script)) if *known == text => Ok(Arc::clone(script)),
        _ => {
            let script = Arc::new(Script::parse(&text).map_err(|error| internal(&error))?);
            *last = Some((text, Arc::clone(&script)));
            Ok(script)
        }
    }
}

fn internal(error: &dyn std::fmt::Display) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Internal, error.to_string())
}

/// Notes the state that the host held when the run ended, to be compared with what the journal says it was.
struct WitnessedRunner {
    native: NativeRunner,
    process: Process,
    witness: Witness,
}

impl Runner for WitnessedRunner {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let execution = launch.execution_id;
            self.witness.run_began(self.process.id, execution);
            let outcome = self.native.run(launch, Arc::clone(&host)).await;
            self.witness.run_ended(self.process.id, execution, &host.state());
            outcome
        })
    }
}

pub struct ProcessTripwire {
    pub process: Process,
}

impl Tripwire for ProcessTripwire {
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()> {
        Box::pin(self.process.pass(Point::Tripwire(point)))
    }
}
