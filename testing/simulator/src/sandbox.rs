//! Sandboxes that understand only the tiny language, and work on real files. A command dies with the process that runs it;
//! what it has done by then is done, and in the ledger.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use windlass_sandbox::{
    BoxFuture, Cancel, Command, Error, Exit, Output, Policy, Provider, Running, Sandbox, Status, Stream,
};

use crate::executor::ProcessId;
use crate::fuse::{Point, Side};
use crate::language::{Statement, parse};
use crate::ledger::{Effect, Entry, Ledger};
use crate::plant::Plant;
use crate::process::Process;

pub struct ScriptedSandboxes {
    pub process: Process,
    pub ledger: Ledger,
    /// Below it are the workspaces. Effects in other folders, the copies that checks run on, are nobody's concern.
    pub workspaces: PathBuf,
    pub open: Opened,
    pub plant: Plant,
}

/// The sandboxes that are open now, and whose they are.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    open: Arc<Mutex<BTreeMap<(ProcessId, PathBuf), usize>>>,
}

impl Opened {
    fn count(&self, process: ProcessId, folder: &Path, change: impl FnOnce(&mut usize)) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry((process, folder.to_owned())).or_default();
        change(count);
        open.retain(|_, count| *count > 0);
    }

    pub fn over(&self, folder: &Path) -> Vec<ProcessId> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.keys().filter(|(_, over)| over == folder).map(|(process, _)| *process).collect()
    }
}

impl Provider for ScriptedSandboxes {
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(async move {
            self.process.pass(Point::Sandbox("open", Side::Before)).await;
            let sandbox = ScriptedSandbox {
                process: self.process.clone(),
                ledger: self.ledger.clone(),
                in_workspace: policy.workspace.starts_with(&self.workspaces),
                open: self.open.clone(),
                folder: policy.workspace,
                closed: AtomicBool::new(false),
                plant: self.plant,
                _lock: policy.lock.map(Arc::new),
            };
            self.open.count(self.process.id, &sandbox.folder, |count| *count += 1);
            self.repeat_by_mistake(&sandbox);
            self.process.pass(Point::Sandbox("open", Side::After)).await;
            Ok(Box::new(sandbox) as Box<dyn Sandbox>)
        })
    }
}

impl ScriptedSandboxes {
    fn repeat_by_mistake(&self, sandbox: &ScriptedSandbox) {
        let last = self.ledger.last_in(&sandbox.folder).filter(|last| last.process != self.process.id);
        if let (Plant::EffectsTwice, Some(last)) = (self.plant, last) {
            sandbox.append(&last.effect);
        }
    }
}

struct ScriptedSandbox {
    process: Process,
    ledger: Ledger,
    folder: PathBuf,
    in_workspace: bool,
    open: Opened,
    closed: AtomicBool,
    plant: Plant,
    /// The owner's lock, held by the sandbox's init too.
    _lock: Option<Arc<std::os::fd::OwnedFd>>,
}

/// One that is let go is as gone as one that was closed.
impl Drop for ScriptedSandbox {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.open.count(self.process.id, &self.folder, |count| *count -= 1);
        }
    }
}

impl Sandbox for ScriptedSandbox {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async move {
            if self.closed.load(Ordering::SeqCst) {
                return Err(Error::Closed);
            }
            let begun = self.process.simulation.now();
            let mut said = Vec::new();
            let status = self.perform(&command, cancel, begun, &mut said).await;
            output(Stream::Stdout, &said);
            self.process.pass(Point::Sandbox("run", Side::After)).await;
            let duration = self.process.simulation.now() - begun;
            Ok(Exit { status, combined: said.clone(), stdout: said, stderr: Vec::new(), dropped: 0, duration })
        })
    }

    /// The tiny language has nobody to talk to.
    fn start(&self, _: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        let why = "not available in a scripted sandbox".to_owned();
        Box::pin(async { Err(Error::Command { why }) })
    }

    fn listen(&self) -> BoxFuture<'_, Result<std::net::TcpListener, Error>> {
        let why = "not available in a scripted sandbox".to_owned();
        Box::pin(async { Err(Error::Command { why }) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.closed.swap(true, Ordering::SeqCst) {
                self.open.count(self.process.id, &self.folder, |count| *count -= 1);
            }
            self.process.pass(Point::Sandbox("close", Side::After)).await;
        })
    }
}

impl ScriptedSandbox {
    async fn perform(&self, command: &Command, mut cancel: Cancel, begun: Duration, said: &mut Vec<u8>) -> Status {
        let line = command.argv.last().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let statements = match parse(&line) {
            Ok(statements) => statements,
            Err(complaint) => {
                said.extend(complaint.into_bytes());
                return Status::Code(127);
            }
        };
        let deadline = begun + command.timeout;
        for statement in statements {
            self.process.pass(Point::Sandbox("run", Side::Before)).await;
            if (&mut cancel).now_or_never().is_some() {
                return Status::Cancelled;
            }
            let ended = match statement {
                Statement::Append(effect) => {
                    self.append(&effect);
                    None
                }
                Statement::Expect(effect) => (!self.has(&effect, said)).then_some(Status::Code(1)),
                Statement::Say(text) => {
                    said.extend(format!("{text}\n").into_bytes());
                    None
                }
                Statement::Flood(lines) => {
                    (0..lines).for_each(|number| said.extend(format!("line {number} of many\n").into_bytes()));
                    None
                }
                Statement::Sleep(length) => self.sleep(length, deadline, &mut cancel).await,
                Statement::Fail => (self.plant != Plant::FailuresPass).then_some(Status::Code(1)),
            };
            if let Some(status) = ended {
                return status;
            }
        }
        Status::Code(0)
    }

    async fn sleep(&self, length: Duration, deadline: Duration, cancel: &mut Cancel) -> Option<Status> {
        let until = self.process.simulation.now() + length;
        let slept = self.process.simulation.sleep_until(until.min(deadline));
        match select(cancel, slept).await {
            Either::Left(_) => Some(Status::Cancelled),
            Either::Right(_) => (until > deadline).then_some(Status::TimedOut),
        }
    }

    /// The line and its entry are one: nothing can come between.
    fn append(&self, effect: &Effect) {
        let path = self.folder.join(&effect.file);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{}", effect.text));
        written.expect("the files of the world can be written");
        self.process.simulation.note_change();
        if self.in_workspace {
            let (process, folder) = (self.process.id, self.folder.clone());
            let change = self.process.simulation.changes();
            self.ledger.enter(Entry { process, folder, change, effect: effect.clone() });
        }
    }

    fn has(&self, effect: &Effect, said: &mut Vec<u8>) -> bool {
        let found = has_line(&self.folder.join(&effect.file), &effect.text);
        if !found {
            said.extend(format!("{} has no line `{}`\n", effect.file, effect.text).into_bytes());
        }
        found
    }
}

fn has_line(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|content| content.lines().any(|line| line == text))
}
