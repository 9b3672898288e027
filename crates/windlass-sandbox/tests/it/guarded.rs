//! A `.git` is obeyed by whoever runs git there later, outside: its hooks, its configuration. None that exists can be
//! changed, none can be made at the top of the workspace, and the host's folder looks afterwards as it did before.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command as Program,
};

use windlass_sandbox::{Error, Policy, Provider, Status};

use crate::support::{Room, bubblewrap, confined, eventually, in_time, text, workspace, write_program};

fn unguarded(policy: &mut Policy) {
    policy.guarded.clear();
}

/// Everything below a folder, with what it is.
fn picture(folder: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut seen = Vec::new();
    let mut to_visit = vec![folder.to_path_buf()];
    while let Some(directory) = to_visit.pop() {
        for entry in fs::read_dir(directory).expect("reads").flatten() {
            let path = entry.path();
            if path.is_dir() {
                to_visit.push(path.clone());
            }
            seen.push((path.clone(), fs::read_to_string(path).ok()));
        }
    }
    seen.sort();
    seen
}

#[tokio::test]
async fn where_there_is_none_none_can_be_made_and_no_trace_is_left() {
    let attacks = [
        "mkdir .git",
        "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "echo 'gitdir: evil' > .git",
        "git init -q . && [ -e .git/HEAD ]",
        "ln -s evil .git && [ -L .git ]",
        "mkdir evil && mv -T evil .git",
        "rmdir .git; mv .git elsewhere; [ ! -e .git ]",
        "mkdir -p .git; chmod 777 .git; mkdir .git/hooks",
        "mkdir evil; mv .git evil/; [ ! -e .git ]",
    ];
    for attack in attacks {
        let script = format!("{attack} && echo worked");
        let room = Room::open(&*confined()).await;
        let exit = room.bash(&script).await;
        assert!(!text(&exit.combined).contains("worked"), "{attack}: {}", text(&exit.combined));
        assert_eq!(fs::read_dir(room.file(".git")).expect("held").count(), 0, "{attack}");
        room.says("touch file; mkdir folder; [ -z \"$(ls -A .git)\" ]").await;
        room.sandbox.close().await;
        assert!(!room.file(".git").exists(), "{attack}");
        assert!(room.file("file").exists());
        let control = Room::open_with(&*confined(), unguarded).await.bash(&script).await;
        assert!(text(&control.combined).contains("worked"), "{attack}: {}", text(&control.combined));
    }
}

/// What the attack is for: a command that git on the host runs by itself.
#[tokio::test]
async fn the_hosts_git_runs_nothing_that_was_made_inside() {
    let script = "git init -q . && git config core.fsmonitor 'touch ran; false'; true";
    let status = |room: &Room| {
        let ended = Program::new("git").args(["status"]).current_dir(room.workspace.path()).output();
        ended.expect("git, of the Debian package git");
        room.file("ran").exists()
    };
    let room = Room::open(&*confined()).await;
    room.bash(script).await;
    assert!(!status(&room), "while it is open");
    room.sandbox.close().await;
    assert!(!status(&room), "after it was closed");
    let control = Room::open_with(&*confined(), unguarded).await;
    control.bash(script).await;
    assert!(status(&control), "the attack works where nothing is guarded");
}

#[tokio::test]
async fn those_further_down_are_read_only_and_stay_where_they_are() {
    let prepare = |policy: &mut Policy| {
        for folder in [".git", "lib/one/.git", "lib/two/.git", "lib/one/deep/er/.git"] {
            fs::create_dir_all(policy.workspace.join(folder)).expect("made");
            fs::write(policy.workspace.join(folder).join("config"), "kept").expect("written");
        }
        fs::create_dir(policy.workspace.join("module")).expect("made");
        fs::write(policy.workspace.join("module/.git"), "gitdir: ../.git/modules/module").expect("written");
    };
    let attacks = [
        "echo x > lib/one/.git/config",
        "echo x > lib/two/.git/config",
        "echo x > lib/one/deep/er/.git/config",
        "mkdir lib/two/.git/hooks",
        "echo 'gitdir: evil' > module/.git",
        "rm -f module/.git; [ ! -e module/.git ]",
        "mv lib lib2 && mkdir -p lib/one/.git",
        "mv lib/one lib/three && mkdir -p lib/one/.git",
        "mv module module2 && mkdir -p module/.git",
    ];
    for attack in attacks {
        let script = format!("{attack} && echo worked");
        let room = Room::open_with(&*confined(), prepare).await;
        let before = picture(room.workspace.path());
        let exit = room.bash(&script).await;
        assert!(!text(&exit.combined).contains("worked"), "{attack}: {}", text(&exit.combined));
        room.says("touch lib/one/new module/new new; rm lib/one/new module/new new").await;
        room.sandbox.close().await;
        assert_eq!(picture(room.workspace.path()), before, "{attack}");
        let control = |policy: &mut Policy| {
            prepare(policy);
            unguarded(policy);
        };
        let control = Room::open_with(&*confined(), control).await.bash(&script).await;
        assert!(text(&control.combined).contains("worked"), "{attack}: {}", text(&control.combined));
    }
}

/// Removing the name on the host would take the mount away from the other.
#[tokio::test]
async fn two_sandboxes_over_one_workspace_are_both_guarded_until_the_last_is_closed() {
    let first = Room::open(&*confined()).await;
    let second = in_time(confined().open(Policy::new(first.workspace.path()))).await.expect("opens");
    in_time(second.close()).await;
    assert!(!first.bash("rmdir .git; mkdir .git").await.success());
    first.sandbox.close().await;
    assert!(!first.file(".git").exists());
}

#[tokio::test]
async fn a_repository_that_is_made_on_the_host_meanwhile_is_kept() {
    let room = Room::open(&*confined()).await;
    let made = Program::new("git").args(["init", "-q"]).current_dir(room.workspace.path()).status();
    let is_made = made.expect("git").success();
    assert!(!room.bash("echo x >> .git/config").await.success());
    room.sandbox.close().await;
    // As anybody but root, git is told by the name's permissions that it may not.
    assert_eq!(room.file(".git/HEAD").exists(), is_made);
    assert_eq!(room.file(".git").exists(), is_made);
}

#[tokio::test]
async fn a_sandbox_that_does_not_open_or_is_dropped_leaves_no_trace_either() {
    let folder = workspace();
    let opened = in_time(bubblewrap().program("/usr/bin/false").open(Policy::new(folder.path()))).await;
    assert!(opened.is_err());
    eventually("the name's end", || !folder.path().join(".git").exists()).await;
    let room = Room::open(&*confined()).await;
    let Room { workspace: folder, sandbox } = room;
    assert!(folder.path().join(".git").exists());
    drop(sandbox);
    eventually("the name's end", || !folder.path().join(".git").exists()).await;
}

/// It could name any file of the host, and mounting would follow it there.
#[tokio::test]
async fn a_link_in_its_place_is_refused() {
    let folder = workspace();
    std::os::unix::fs::symlink("/etc", folder.path().join(".git")).expect("a link");
    let opened = in_time(confined().open(Policy::new(folder.path()))).await;
    assert!(matches!(opened.err(), Some(Error::Policy { .. })));
}

/// Regression: mounts are made by path, after the paths were looked at. Who works in the same folder puts a link there for as long
/// as the mount takes, and has any folder of the host mounted. The program in bubblewrap's place finds what the link leads
/// to; it also shows what is in it, which is the control.
#[tokio::test]
async fn what_is_swapped_in_while_the_sandbox_opens_is_refused() {
    for swapped in ["lib/one/.git", "lib/one", "lib", ""] {
        let (folder, victim, tools) = (workspace(), workspace(), workspace());
        for path in [".git", "one/.git", "lib/one/.git"] {
            fs::create_dir_all(folder.path().join(path)).expect("made");
            fs::create_dir_all(victim.path().join(path)).expect("made");
        }
        fs::write(victim.path().join("secret"), "of the host").expect("written");
        let place = folder.path().canonicalize().expect("it is there").join(swapped);
        let finding = |found: &Path| {
            let place = place.to_str().expect("a name").trim_end_matches('/');
            let script = format!(
                "#!/bin/bash\nwords=()\nfor word in \"$@\"; do\n\
                 if [ \"$word\" = '{place}' ]; then word='{found}'; fi\nwords+=(\"$word\")\ndone\n\
                 /usr/bin/bwrap --ro-bind / / --tmpfs /mnt --ro-bind '{found}' /mnt/x ls /mnt/x > '{seen}'\n\
                 exec /usr/bin/bwrap \"${{words[@]}}\"\n",
                found = found.display(),
                seen = tools.path().join("seen").display(),
            );
            bubblewrap().program(write_program(&tools, &script))
        };
        let policy = || Policy::new(folder.path());
        match in_time(finding(victim.path()).open(policy())).await.err().expect("something else was mounted") {
            Error::NotConfined { what } => assert!(what.contains("swapped"), "{swapped}: {what}"),
            other => panic!("{swapped}: {other}"),
        }
        let control = fs::read_to_string(tools.path().join("seen")).expect("it looked");
        assert!(control.contains("secret"), "{control}");
        let twin = in_time(finding(&place).open(policy())).await.expect("what was meant");
        in_time(twin.close()).await;
    }
}

/// What mounts cannot do, so that nobody relies on it: see `docs/running.md`.
#[tokio::test]
async fn a_new_one_further_down_can_be_made() {
    let room = Room::open(&*confined()).await;
    assert_eq!(room.bash("mkdir -p new/.git").await.status, Status::Code(0));
}
