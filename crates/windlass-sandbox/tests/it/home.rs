//! The home of commands: in memory and gone with its sandbox, or a directory of the host that stays.

use std::{
    fs,
    path::{Path, PathBuf},
};

use windlass_sandbox::{Error, Limits, Policy, Provider, Status};

use crate::support::{Room, confined, in_time, is_docker, process, text, workspace};

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

async fn room_with(provider: &dyn Provider, home: &Path) -> Room {
    Room::open_with(provider, |policy| policy.home = Some(home.to_owned())).await
}

#[tokio::test]
async fn what_is_put_into_it_is_there_for_the_next_sandbox() {
    for provider in providers() {
        let home = workspace();
        let first = room_with(&*provider, home.path()).await;
        first.says("mkdir -p ~/.config/agent && echo kept > ~/.config/agent/session && ln -s session ~/link").await;
        in_time(first.sandbox.close()).await;
        assert_eq!(fs::read(home.path().join(".config/agent/session")).expect("reads"), b"kept\n");
        let second = room_with(&*provider, home.path()).await;
        assert_eq!(second.says("cat $HOME/.config/agent/session; readlink ~/link").await, "kept\nsession");
    }
}

#[tokio::test]
async fn without_one_nothing_stays() {
    for provider in providers() {
        let first = Room::open(&*provider).await;
        first.says("echo gone > ~/note && test -s ~/note").await;
        in_time(first.sandbox.close()).await;
        assert_eq!(Room::open(&*provider).await.says("ls -A ~").await, "");
    }
}

#[tokio::test]
async fn it_is_where_a_home_always_is() {
    let home = workspace();
    assert_eq!(room_with(&*confined(), home.path()).await.says("echo $HOME").await, "/home/agent");
    let of_the_host = room_with(&process(), home.path()).await.says("echo $HOME").await;
    assert_eq!(PathBuf::from(of_the_host), home.path().canonicalize().expect("a path"));
}

/// The data directory is hidden, and homes lie in it.
#[tokio::test]
async fn what_is_around_it_stays_hidden() {
    let data = workspace();
    let (key, home) = (data.path().join("key"), data.path().join("homes/one"));
    fs::create_dir_all(data.path().join("homes/two")).expect("made");
    fs::create_dir(&home).expect("made");
    fs::write(&key, "secret").expect("written");
    let open = async |provider: &dyn Provider| {
        let change = |policy: &mut Policy| {
            policy.home = Some(home.clone());
            policy.hidden.push(data.path().to_owned());
        };
        Room::open_with(provider, change).await
    };
    let look = format!("ls -A ~ ~/..; cat {} ~/../key ~/../../key", key.display());
    let said = text(&open(&*confined()).await.bash(&look).await.combined);
    assert!(!said.contains("secret") && !said.contains("two"), "{said}");
    let said = text(&open(&process()).await.bash(&look).await.combined);
    assert!(said.contains("secret") && said.contains("two"), "the control: {said}");
}

/// It takes none of the sandbox's, and is not emptied to make room there.
#[tokio::test]
async fn it_does_not_count_as_memory() {
    let home = workspace();
    let mebibytes = if is_docker() { 256 } else { 32 };
    let limits = Limits { memory_bytes: mebibytes << 20, ..Limits::default() };
    let change = |policy: &mut Policy| {
        policy.home = Some(home.path().to_owned());
        policy.limits = limits;
    };
    let room = Room::open_with(&*confined(), change).await;
    let size = (mebibytes + 16) << 20;
    let script = format!("head -c {size} /dev/zero > ~/large && sleep 0.3");
    assert_eq!(room.bash(&script).await.status, Status::Code(0), "counted at least once");
    assert_eq!(room.says("stat -c %s ~/large").await, size.to_string());
}

#[tokio::test]
async fn one_that_cannot_be_shown_is_refused() {
    let room = workspace();
    let (inside, data) = (room.path().join("workspace/sub"), room.path().join("data/of/mine"));
    for directory in [&inside, &data, &room.path().join("home")] {
        fs::create_dir_all(directory).expect("made");
    }
    fs::write(room.path().join("file"), "").expect("written");
    std::os::unix::fs::symlink("data", room.path().join("link")).expect("a link");
    let open = async |home: &str, mount: Option<&str>| {
        let mut policy = Policy::new(room.path().join("workspace"));
        policy.home = Some(room.path().join(home));
        policy.hidden.push(data.clone());
        policy.readonly_mounts.extend(mount.map(|inside| ("/usr".into(), inside.into())));
        in_time(confined().open(policy)).await
    };
    let refusal = async |home: &str, mount| match open(home, mount).await {
        Err(Error::Policy { field, why }) => format!("{field}: {why}"),
        Err(other) => panic!("refused for another reason: {other}"),
        Ok(_) => panic!("{home} was shown"),
    };
    assert!(open("home", None).await.is_ok(), "the control");
    assert!(open("home", Some("/home/other")).await.is_ok(), "the control");
    for (home, reason) in [
        ("workspace", "neither in the workspace"),
        ("workspace/sub", "neither in the workspace"),
        ("", "around it"),
        ("data/of/mine", "which is hidden"),
        ("data", "which is hidden"),
        ("link", "which is hidden"),
        ("/", "around it"),
        ("file", "must be a directory"),
        ("nowhere", "No such file"),
    ] {
        let why = refusal(home, None).await;
        assert!(why.starts_with("home: ") && why.contains(reason), "{home}: {why}");
    }
    for mount in ["/home/agent", "/home/agent/.cache", "/home"] {
        let why = refusal("home", Some(mount)).await;
        assert!(why.starts_with("readonly_mounts: ") && why.contains("elsewhere"), "{mount}: {why}");
    }
}
