//! Commands without confinement: limits, an environment from nothing, and an end for the whole tree, but every file
//! and the network of the owner. For machines that have nothing better and operators who say so.
//!
//! A command here can kill the supervisor, and then only what the kernel's death signals reach dies with it.

#![expect(clippy::disallowed_methods, reason = "the home of starting programs")]

use std::{fs::DirBuilder, io, os::unix::fs::DirBuilderExt, process::Command};

use crate::{
    BoxFuture, Error, Policy, Provider, Sandbox, Supervisor,
    host::{Failure, Groups, Scratch, Session, Spawn, Start, create_unique},
    policy::DEFAULT_PATH,
    wire::Setup,
};

/// Making one is the explicit opt-in: there is no other way to a [`Process`] provider.
#[derive(Debug, Clone, Copy)]
pub struct IUnderstandThereIsNoIsolation;

#[derive(Debug)]
pub struct Process {
    supervisor: Supervisor,
}

impl Process {
    pub fn new(_: IUnderstandThereIsNoIsolation, supervisor: Supervisor) -> Self {
        Self { supervisor }
    }

    async fn start(&self, policy: Policy) -> Result<Box<dyn Sandbox>, Error> {
        let policy = policy.resolve()?;
        let home = make_home().map_err(Error::io("make a scratch home"))?;
        let groups = Groups::create(&policy.limits);
        let mut command = Command::new(&self.supervisor.program);
        command.args(&self.supervisor.args);
        let mut env = policy.env;
        env.entry("PATH".into())
            .or_insert_with(|| DEFAULT_PATH.into());
        env.entry("HOME".into())
            .or_insert_with(|| home.0.clone().into());
        let session = Session::open(Start {
            spawn: Spawn {
                command,
                inherited: Vec::new(),
                groups: Vec::new(),
            },
            setup: Setup {
                bait: None,
                memory_held: groups.as_ref().is_some_and(Groups::holds_memory),
                processes_held: groups.as_ref().is_some_and(Groups::holds_processes),
                limits: policy.limits,
            },
            lock: policy.lock,
            groups,
            workspace: policy.workspace,
            env,
            scratch: Some(home),
        });
        match session.await {
            Ok(session) => Ok(Box::new(session)),
            Err(Failure::Ended { said }) => Err(Error::Died {
                detail: format!("the supervisor ended: {said}"),
            }),
            Err(Failure::Other(error)) => Err(error),
        }
    }
}

impl Provider for Process {
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(self.start(policy))
    }
}

fn make_home() -> io::Result<Scratch> {
    let path = create_unique(&["/tmp", "/var/tmp"], "windlass-home", |path| {
        DirBuilder::new().mode(0o700).create(path)
    })?;
    Ok(Scratch(path))
}
