//! One execution under its host: what it stands on, whom it works for, and what it has heard. How it commits is `commit`'s,
//! what its runner may ask `runner_port`'s, and whether a call may be made `authorise`'s.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use futures_util::lock::Mutex as AsyncMutex;
use windlass_domain::execution::{
    Delivery, ExecutionCommand, InjectionReceived, MessageAccepted, MessageDelivery, MessageKind, TaskMessage,
};
use windlass_domain::task::TaskCreated;
use windlass_domain::{CancelSignal, ExecutionId, Finished, Refused, Taint, TaskId, Usd};
use windlass_policy::gate::Gate;
use windlass_sandbox::Sandbox;
use windlass_store::Fence;

use super::commit::Memory;
use super::ground::Ground;
use super::journal::Journal;
use super::refusals::Refusals;
use super::shown::Shown;
use crate::control::{Arrived, Inbox};
use crate::engine::Shared;
use crate::watch::Watcher;

pub struct HostParts {
    pub shared: Arc<Shared>,
    pub execution: ExecutionId,
    pub fence: Fence,
    pub journal: Journal,
    pub cancel: CancelSignal,
    pub inbox: Inbox,
    pub watcher: Arc<dyn Watcher>,
    pub task: TaskId,
    pub created: Arc<TaskCreated>,
    /// Which of the task's attempts it is.
    pub attempt: u32,
    /// Of what opens the transcript.
    pub prompt_taint: Taint,
    /// Whom it works for, if for anybody.
    pub parent: Weak<ExecutionHost>,
    /// How many stand above it.
    pub depth: u32,
    /// Where it works.
    pub folder: PathBuf,
    /// Those of the item it works on, which hold after the operator's.
    pub gates: Arc<[Gate]>,
    /// What is known of the files, by it and by those it works for.
    pub ground: Arc<Ground>,
    /// What commands of the family did not reach.
    pub refusals: Arc<Refusals>,
}

/// Those who work for an execution and are not on its bill yet.
pub type Kin = BTreeMap<ExecutionId, Arc<ExecutionHost>>;

pub struct ExecutionHost {
    pub(super) shared: Arc<Shared>,
    pub(super) execution: ExecutionId,
    pub(super) task: TaskId,
    pub(super) created: Arc<TaskCreated>,
    pub(super) attempt: u32,
    pub(super) folder: PathBuf,
    pub(super) fence: Fence,
    pub(super) cancel: CancelSignal,
    pub(super) inbox: Inbox,
    pub(super) watcher: Arc<dyn Watcher>,
    pub(super) prompt_taint: Taint,
    pub(super) me: Weak<Self>,
    pub(super) parent: Weak<Self>,
    pub(super) depth: u32,
    pub(super) gates: Arc<[Gate]>,
    pub(super) ground: Arc<Ground>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) kin: Mutex<Kin>,
    /// What tasks that look into something for it count for: they are paid from its budget.
    pub(super) helpers: Mutex<(u64, Usd)>,
    /// The eldest's is held while one of its family looks at what is left and takes of it.
    pub(super) purse: Mutex<()>,
    /// Where its commands run, once there is one.
    pub(super) sandbox: OnceLock<Arc<dyn Sandbox>>,
    /// One commit at a time, in the order they were asked for.
    pub(super) turn: AsyncMutex<()>,
    pub(super) memory: Mutex<Memory>,
    pub(super) shown: Mutex<Shown>,
    /// What it was told, for who looks at where it stands.
    pub(super) briefing: OnceLock<TaskMessage>,
}

impl ExecutionHost {
    pub fn new(parts: HostParts) -> Arc<Self> {
        let HostParts { shared, execution, fence, journal, cancel, inbox, watcher, .. } = parts;
        let HostParts { task, created, attempt, prompt_taint, parent, depth, folder, gates, ground, refusals, .. } =
            parts;
        let memory = Mutex::new(Memory::new(journal));
        let turn = AsyncMutex::new(());
        Arc::new_cyclic(|me| Self {
            shared,
            execution,
            task,
            created,
            attempt,
            folder,
            fence,
            cancel,
            inbox,
            watcher,
            prompt_taint,
            me: Weak::clone(me),
            parent,
            depth,
            gates,
            ground,
            refusals,
            kin: Mutex::default(),
            helpers: Mutex::default(),
            purse: Mutex::default(),
            sandbox: OnceLock::new(),
            turn,
            memory,
            shown: Mutex::default(),
            briefing: OnceLock::new(),
        })
    }

    /// Its commands run there, and so do those of whoever works for it.
    pub fn equip(&self, sandbox: Arc<dyn Sandbox>) {
        let _it_has_one = self.sandbox.set(sandbox);
    }

    /// Joined over everything the execution has read.
    pub fn taint(&self) -> Taint {
        self.memory().journal.state.taint
    }

    /// Whether a program of its own carries it, which listens for itself.
    pub fn is_foreign(&self) -> bool {
        self.memory().journal.state.is_foreign()
    }

    /// What the step came to that the model has not been asked after.
    pub(super) fn step(&self) -> Vec<Finished> {
        self.memory().journal.step()
    }

    /// Stages the injections that have arrived; whether the agent has something to answer. Each is acknowledged with the commit that
    /// holds it.
    pub fn hear(&self) -> Result<bool, Refused> {
        self.take_in_all(self.inbox.take())
    }

    /// The same of those that are about the model alone: whoever is about to be started asks the right one from the beginning.
    pub fn hear_of_models(&self) -> Result<(), Refused> {
        self.take_in_all(self.inbox.take_kind(MessageKind::Model)).map(drop)
    }

    fn take_in_all(&self, arrived: Vec<Arrived>) -> Result<bool, Refused> {
        let mut is_spoken_to = false;
        for Arrived { received, is_message } in arrived {
            let message_id = received.message_id;
            is_spoken_to |= received.injection.kind() != MessageKind::Model;
            self.decide(commands(received))?;
            if is_message {
                self.memory().heard.push(message_id);
            }
        }
        Ok(is_spoken_to)
    }

    /// The same where the agent could listen now: no call of its is without a result.
    pub fn hear_if_quiet(&self) -> Result<(), Refused> {
        let is_quiet = self.memory().journal.state.open_calls.is_empty();
        if is_quiet { self.hear().map(drop) } else { Ok(()) }
    }
}

/// What a message leads to. One about the model is for whoever asks it, and no word of it for the agent.
fn commands(received: InjectionReceived) -> Vec<ExecutionCommand> {
    let InjectionReceived { message_id, injection, taint } = &received;
    let kind = injection.kind();
    if kind != MessageKind::Model {
        return vec![ExecutionCommand::Inject(received)];
    }
    let (message_id, taint, to) = (*message_id, *taint, injection.content.clone());
    let accepted = MessageAccepted { message_id, kind, content: to.clone(), images: Vec::new(), taint };
    let delivered = MessageDelivery { message_id, outcome: Delivery::Delivered };
    vec![
        ExecutionCommand::Accept(accepted),
        ExecutionCommand::SwitchModel { message_id, to },
        ExecutionCommand::NoteDelivery(delivered),
    ]
}
