//! Commands without confinement: limits, an environment from nothing, and an end for the whole tree, but every file
//! and the network of the owner. For machines that have nothing better and operators who say so.
//!
//! A command here can kill the supervisor, and then only what the kernel's death signals reach dies with it.

use std::{fs, io};

use crate::{
    BoxFuture, Cgroups, Error, Policy, Provider, Sandbox, Supervisor,
    host::{Failure, Groups, Heard, Inside, Program, Spawn, Start, WayOut, path_to, private_directory},
    policy::{DEFAULT_PATH, Home},
    wire::Setup,
};

/// Making one is the explicit opt-in: there is no other way to a [`Process`] provider.
#[derive(Debug, Clone, Copy)]
pub struct IUnderstandThereIsNoIsolation;

#[derive(Debug)]
pub struct Process {
    supervisor: Supervisor,
    program: io::Result<Program>,
    cgroups: Cgroups,
}

impl Process {
    pub fn new(_: IUnderstandThereIsNoIsolation, supervisor: Supervisor) -> Self {
        let program = Program::open(&supervisor.program);
        Self { supervisor, program, cgroups: Cgroups::default() }
    }

    #[must_use]
    pub fn cgroups(mut self, cgroups: Cgroups) -> Self {
        self.cgroups = cgroups;
        self
    }

    async fn start(&self, policy: Policy) -> Result<Box<dyn Sandbox>, Error> {
        let policy = policy.resolve()?;
        let program = self.program.as_ref().map_err(|error| self.supervisor.missing(error))?;
        let program = program.descriptor().map_err(Error::io("prepare a sandbox"))?;
        let (home, scratch) = match &policy.home {
            Some(home) => (home.clone(), None),
            None => {
                let home = private_directory("windlass-home").map_err(Error::io("make a scratch home"))?;
                (home.clone(), Some(home))
            }
        };
        let groups = Groups::create(self.cgroups, &policy.limits);
        let mut spawn = Spawn::new(path_to(&program), Heard::Stderr);
        spawn.arguments.clone_from(&self.supervisor.args);
        spawn.inherited.push(program);
        // On the machine's own loopback.
        let way_out = WayOut::of(&policy.network, 0);
        let mut env = policy.env;
        env.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
        env.entry("HOME".into()).or_insert_with(|| home.into());
        let setup = Setup {
            bait: None,
            memory_held: groups.as_ref().is_some_and(Groups::holds_memory),
            processes_held: groups.as_ref().is_some_and(Groups::holds_processes),
            limits: policy.limits,
            listen: way_out.as_ref().map(|way_out| way_out.port),
            home: Home::OnTheHost,
            scratch: scratch.clone(),
        };
        let start = Start {
            spawn,
            lock: policy.lock,
            groups,
            placeholders: Vec::new(),
            scratch: scratch.clone(),
            inside: Inside { workspace: policy.workspace, env, way_out },
        };
        let opened = start.open(|| Ok(setup)).await;
        if let (Err(_), Some(scratch)) = (&opened, scratch) {
            // Otherwise the supervisor removes it, which works even if the owner is killed, and if not that, the janitor.
            let _ = fs::remove_dir(scratch);
        }
        match opened {
            Ok(session) => Ok(Box::new(session)),
            Err(Failure::Ended { said }) => Err(Error::Died { detail: format!("the supervisor ended: {said}") }),
            Err(Failure::Other(error)) => Err(error),
        }
    }
}

impl Provider for Process {
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(self.start(policy))
    }
}
