//! A bubblewrap that does not confine must be caught before anything runs.

use std::path::PathBuf;

use tempfile::TempDir;
use windlass_sandbox::{Command, Error, Policy, Provider, discard, never};

use crate::support::{bubblewrap, in_time, supervisor, workspace, write_program};

/// A program in bubblewrap's place that changes its arguments by a line of `sed`, one argument to a line.
fn weakened(directory: &TempDir, edit: &str) -> PathBuf {
    let script = format!(
        "#!/bin/bash\nmapfile -t words < <(printf '%s\\n' \"$@\" | sed -e '{edit}')\nexec /usr/bin/bwrap \"${{words[@]}}\"\n"
    );
    write_program(directory, &script)
}

async fn refusal(program: PathBuf, hidden: Option<PathBuf>) -> String {
    refusal_of(program, |policy| policy.hidden.extend(hidden)).await
}

async fn refusal_of(program: PathBuf, change: impl FnOnce(&mut Policy)) -> String {
    let workspace = workspace();
    let mut policy = Policy::new(workspace.path());
    change(&mut policy);
    match in_time(bubblewrap().program(program).open(policy)).await {
        Err(Error::NotConfined { what }) => what,
        Err(other) => panic!("refused for another reason: {other}"),
        Ok(_) => panic!("opened"),
    }
}

async fn check(edit: &str, expected: &str) {
    let directory = workspace();
    let what = refusal(weakened(&directory, edit), None).await;
    assert!(what.contains(expected), "{edit}: {what}");
}

#[tokio::test]
async fn the_same_wrapper_without_a_change_opens() {
    let directory = workspace();
    let workspace = workspace();
    let provider = bubblewrap().program(weakened(&directory, ""));
    let sandbox = in_time(provider.open(Policy::new(workspace.path()))).await.expect("opens");
    let exit = in_time(sandbox.run(Command::bash("true"), &mut discard, never())).await;
    assert!(exit.expect("runs").success());
}

#[tokio::test]
async fn no_confinement_at_all_is_caught() {
    let directory = workspace();
    let program = supervisor().program;
    let script = format!("#!/bin/sh\nexec {}\n", program.display());
    let what = refusal(write_program(&directory, &script), None).await;
    assert!(what.contains("namespace"), "{what}");
}

#[tokio::test]
async fn each_missing_namespace_is_caught() {
    for (flag, name) in [("net", "net"), ("ipc", "ipc"), ("uts", "uts")] {
        // The host name is only allowed with its own namespace.
        let edit = format!("/^--unshare-{flag}$/d;/^--hostname$/{{N;d}}");
        check(&edit, &format!("shares the owner's {name} namespace")).await;
    }
    check("/^--unshare-pid$/d;/^--as-pid-1$/d", "is not the first process").await;
}

#[tokio::test]
async fn a_missing_filter_is_caught() {
    check("/^--seccomp$/{N;d}", "without a system call filter").await;
}

/// One instruction that allows everything.
#[tokio::test]
async fn a_filter_that_is_not_ours_is_caught() {
    let directory = workspace();
    let script = "#!/bin/bash\nmapfile -t words < <(printf '%s\\n' \"$@\" | sed -e '/^--seccomp$/{n;s/.*/99/}')\n\
        exec 99< <(printf '\\x06\\x00\\x00\\x00\\x00\\x00\\xff\\x7f')\nexec /usr/bin/bwrap \"${words[@]}\"\n";
    let what = refusal(write_program(&directory, script), None).await;
    assert!(what.contains("hypervisor"), "{what}");
}

#[tokio::test]
async fn a_visible_host_is_caught() {
    check("s,^--chdir$,--ro-bind\\n/var\\n/var\\n--chdir,;/^--remount-ro$/{N;d}", "can see the host's /var").await;
}

#[tokio::test]
async fn a_visible_hidden_path_is_caught() {
    let directory = workspace();
    let data = workspace();
    let path = data.path().display().to_string();
    // Beside its own path, where the secret is not.
    let edit = format!("s,^--chdir$,--ro-bind\\n{path}\\n{path}\\n--chdir,;/^--remount-ro$/{{N;d}}");
    let what = refusal(weakened(&directory, &edit), Some(data.path().to_path_buf())).await;
    assert_eq!(what, format!("can see the host's {path}"));
}

#[tokio::test]
async fn a_home_that_is_not_the_one_that_was_meant_is_caught() {
    let (directory, home, other) = (workspace(), workspace(), workspace());
    let edit = format!("s,^{}$,{},", home.path().display(), other.path().display());
    let what = refusal_of(weakened(&directory, &edit), |policy| policy.home = Some(home.path().to_owned())).await;
    assert!(what.contains("something else at /home/agent"), "{what}");
}

#[tokio::test]
async fn a_writable_system_is_caught() {
    check("/^--remount-ro$/{N;/\\/$/d}", "can write /").await;
    check("/^--remount-ro$/{N;/dev$/d}", "can write /dev").await;
}

#[tokio::test]
async fn an_inherited_environment_is_caught() {
    check("s/^--clearenv$/--setenv\\nTOKEN\\nsecret/", "environment").await;
}

#[tokio::test]
async fn a_bubblewrap_that_fails_is_explained() {
    let directory = workspace();
    let script = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
    let program = write_program(&directory, script);
    let workspace = workspace();
    let opened = in_time(bubblewrap().program(program).open(Policy::new(workspace.path()))).await;
    let message = opened.err().expect("refused").to_string();
    assert!(message.contains("No permissions") && message.contains("user.max_user_namespaces"), "{message}");
}
