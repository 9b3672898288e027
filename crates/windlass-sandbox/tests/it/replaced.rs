//! The program is upgraded or removed while it runs, and opens its next sandbox all the same.

use std::{fs, path::Path};

use windlass_sandbox::{
    Bubblewrap, Cgroups, Command, IUnderstandThereIsNoIsolation, Policy, Process, Provider, Supervisor, discard, never,
};

use crate::support::{in_time, supervisor, workspace};

pub async fn open_and_run(provider: &dyn Provider) {
    let folder = workspace();
    let sandbox = in_time(provider.open(Policy::new(folder.path()))).await.expect("opens");
    let exit = in_time(sandbox.run(Command::new(["true"]), &mut discard, never())).await;
    assert!(exit.expect("runs").success());
    in_time(sandbox.close()).await;
}

fn copy(folder: &Path) -> Supervisor {
    let program = folder.join("supervisor");
    fs::copy(supervisor().program, &program).expect("copied");
    Supervisor { program, args: Vec::new() }
}

pub fn providers(supervisor: &Supervisor) -> [Box<dyn Provider>; 2] {
    [
        Box::new(Bubblewrap::new(supervisor.clone()).cgroups(Cgroups::Never)),
        Box::new(Process::new(IUnderstandThereIsNoIsolation, supervisor.clone()).cgroups(Cgroups::Never)),
    ]
}

#[tokio::test]
async fn a_supervisor_that_was_removed_still_starts() {
    let folder = workspace();
    let supervisor = copy(folder.path());
    for provider in providers(&supervisor) {
        open_and_run(&*provider).await;
    }
    let providers_before = providers(&supervisor);
    fs::remove_file(&supervisor.program).expect("removed");
    for provider in providers_before {
        open_and_run(&*provider).await;
        open_and_run(&*provider).await;
    }
    for provider in providers(&supervisor) {
        let opened = in_time(provider.open(Policy::new(folder.path()))).await;
        let message = opened.err().expect("there is none").to_string();
        assert!(message.contains("No such file") && message.contains("supervisor"), "{message}");
    }
}

/// As an upgrade does it: the new version under another name, and then in the place of the old.
#[tokio::test]
async fn a_supervisor_that_was_replaced_is_still_the_old_one() {
    let folder = workspace();
    let supervisor = copy(folder.path());
    let providers = providers(&supervisor);
    let other = folder.path().join("other");
    fs::write(&other, "#!/bin/sh\necho another version >&2; exit 1\n").expect("written");
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    fs::rename(other, &supervisor.program).expect("replaced");
    for provider in providers {
        open_and_run(&*provider).await;
    }
}

#[test]
fn a_program_that_was_removed_is_still_its_own_supervisor() {
    let folder = workspace();
    let program = folder.path().join("copied-owner");
    // By another process: one that a test beside this starts meanwhile would have the file open for writing, and nobody could run it.
    let copied = std::process::Command::new("cp").arg(crate::support::own_program()).arg(&program).status();
    assert!(copied.expect("cp starts").success());
    let output = std::process::Command::new(program)
        .args(["--exact", "owner::an_owner_that_removes_itself", "--ignored", "--nocapture"])
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
