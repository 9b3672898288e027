//! What a command must not reach. Each attack is also made without confinement, where it must work, or its failure
//! inside would prove nothing; and what ordinary work needs must still work inside.

use std::{
    collections::BTreeMap,
    fs,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{fs::MetadataExt, fs::PermissionsExt, fs::symlink, net::SocketAddr, net::UnixListener},
    },
};

use windlass_sandbox::{Command, Policy, Status};

use crate::support::{ATTACKER, Room, confined, is_docker, own_program, process, text, workspace};

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The script says `worked` without confinement, and does not with it.
async fn only_works_outside(script: &str) {
    let confined = Room::open(&*confined()).await.bash(script).await;
    assert!(!text(&confined.combined).contains("worked"), "{script}: {}", text(&confined.combined));
    let control = Room::open(&process()).await.bash(script).await;
    assert!(text(&control.combined).contains("worked"), "{script}: {}", text(&control.combined));
}

fn program(path: &str, attack: &str) -> Command {
    Command::new([path, "--exact", &format!("attack::{attack}"), "--ignored", "--nocapture", "--test-threads=1"])
}

async fn attack_inside(room: &Room, attack: &str) -> String {
    text(&room.run(program(ATTACKER, attack)).await.stdout)
}

async fn attack_outside(room: &Room, attack: &str) -> String {
    text(&room.run(program(&own_program().display().to_string(), attack)).await.stdout)
}

#[tokio::test]
async fn dangerous_calls_are_denied() {
    let inside = Room::open(&*confined()).await;
    let outside = Room::open(&process()).await;
    let mut attacks = vec![
        "tracing_a_child",
        "adding_a_key",
        "setting_up_io_uring",
        "cloning_with_hidden_flags",
        "pushing_into_a_terminal",
        "opening_a_raw_netlink_socket",
        "opening_a_hypervisor_socket",
    ];
    if is_root() {
        attacks.push("mounting");
    }
    for attack in attacks {
        let said = attack_inside(&inside, attack).await;
        assert!(said.contains("denied") && !said.contains("worked"), "{attack}: {said}");
        let said = attack_outside(&outside, attack).await;
        assert!(said.contains("worked"), "{attack}, the control: {said}");
    }
}

#[tokio::test]
async fn calls_that_are_younger_than_the_filter_are_not_there() {
    let attack = "opening_a_tree_with_attributes";
    let said = attack_inside(&Room::open(&*confined()).await, attack).await;
    assert!(said.contains("denied") && !said.contains("worked"), "{said}");
    let control = attack_outside(&Room::open(&process()).await, attack).await;
    if !control.contains("worked") {
        eprintln!("no control: this kernel is older than the call: {control}");
    }
}

#[tokio::test]
async fn new_namespaces_are_denied() {
    for flags in ["--user", "--user --map-root-user --mount", "--user --net", "--user --pid --fork"] {
        only_works_outside(&format!("unshare {flags} echo worked")).await;
    }
}

#[tokio::test]
async fn a_host_listener_is_out_of_reach() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("binds");
    let port = tcp.local_addr().expect("an address").port();
    only_works_outside(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo worked")).await;
    only_works_outside(&format!("exec 3<>/dev/tcp/0.0.0.0/{port} && echo worked")).await;
    only_works_outside(&format!("exec 3<>/dev/tcp/localhost/{port} && echo worked")).await;
}

#[tokio::test]
async fn a_datagram_does_not_leave() {
    let udp = UdpSocket::bind("127.0.0.1:0").expect("binds");
    udp.set_nonblocking(true).expect("set");
    let script = format!("echo out > /dev/udp/127.0.0.1/{}", udp.local_addr().expect("an address").port());
    let mut buffer = [0; 16];
    Room::open(&*confined()).await.bash(&script).await;
    assert!(udp.recv(&mut buffer).is_err(), "nothing arrived");
    Room::open(&process()).await.bash(&script).await;
    assert_eq!(udp.recv(&mut buffer).expect("the control arrived"), 4);
}

#[tokio::test]
async fn an_abstract_socket_is_out_of_reach() {
    let name = format!("windlass-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("binds");
    let inside = Room::open(&*confined()).await;
    let outside = Room::open(&process()).await;
    fs::write(inside.file("target"), &name).expect("writes");
    fs::write(outside.file("target"), &name).expect("writes");
    assert!(attack_inside(&inside, "reaching_an_abstract_socket").await.contains("denied"));
    assert!(attack_outside(&outside, "reaching_an_abstract_socket").await.contains("worked"));
}

#[tokio::test]
async fn there_is_no_way_out_and_a_loopback_of_ones_own() {
    let room = Room::open(&*confined()).await;
    let said = text(&room.bash("exec 3<>/dev/tcp/192.0.2.1/80; echo $?").await.combined);
    assert!(said.contains("unreachable"), "{said}");
    assert_eq!(room.says("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await, "lo");
    assert_eq!(room.says("cat /etc/resolv.conf 2>/dev/null || true").await, "");
    assert!(attack_inside(&room, "talking_to_oneself").await.contains("worked"));
}

#[tokio::test]
async fn the_owners_secrets_are_not_in_proc() {
    let owner = std::process::id();
    only_works_outside(&format!("tr '\\0' '\\n' < /proc/{owner}/environ | grep -q CARGO && echo worked")).await;
    only_works_outside(&format!("kill -0 {owner} && echo worked")).await;
    let room = Room::open(&*confined()).await;
    let said = room.says("cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | cut -d= -f1 | sort -u").await;
    let names: Vec<&str> = said.lines().collect();
    assert!(names.iter().all(|name| ["HOME", "PATH", "PWD", "SHLVL", "_", "OLDPWD"].contains(name)), "{said}");
}

#[tokio::test]
async fn the_supervisor_cannot_be_looked_into() {
    let room = Room::open_with(&*confined(), |policy| {
        policy.lock = Some(tempfile::tempfile().expect("a file").into());
    })
    .await;
    for what in ["environ", "mem", "maps", "fd/0", "fd/3", "root/etc", "cwd/"] {
        let script = format!("head -c 1 /proc/1/{what} >/dev/null && echo worked; ls /proc/1/{what} && echo worked");
        let said = text(&room.bash(&format!("({script}) 2>&1")).await.combined);
        assert!(said.contains("denied") || said.contains("No such file"), "{what}: {said}");
    }
    // As root one may list them, but not follow one.
    let follow =
        "for each in /proc/1/fd/*; do readlink $each || head -c 1 < $each && echo worked; done 2>/dev/null; true";
    assert_eq!(room.says(follow).await, "");
}

/// The owner's own descriptors are not passed on, although whoever made this one forgot to say so.
#[tokio::test]
async fn a_command_has_three_descriptors() {
    let forgotten = fs::File::open("/").expect("opens");
    rustix::io::fcntl_setfd(&forgotten, rustix::io::FdFlags::empty()).expect("set");
    for provider in [confined(), Box::new(process())] {
        let with_lock = |policy: &mut Policy| policy.lock = Some(tempfile::tempfile().expect("a file").into());
        let room = Room::open_with(&*provider, with_lock).await;
        let list = "for n in $(seq 0 1000); do [ -e /proc/$$/fd/$n ] && echo $n; done; true";
        assert_eq!(room.says(list).await, "0\n1\n2");
    }
}

#[tokio::test]
async fn a_link_out_of_the_workspace_leads_nowhere() {
    let outside = workspace();
    let secret = outside.path().join("secret");
    fs::write(&secret, "hunter2").expect("writes");
    let paths = [secret.display().to_string(), outside.path().display().to_string()];
    for path in &paths {
        only_works_outside(&format!("ln -s {path} link && ls -d link/ link && cat link link/secret; grep -qs hunter2 link link/secret && echo worked")).await;
    }
    if is_docker() {
        // An image has accounts of its own.
        return;
    }
    let room = Room::open(&*confined()).await;
    symlink("/etc/shadow", room.file("shadow")).expect("a link");
    let said =
        text(&room.bash("cat shadow /etc/shadow /proc/1/root/etc/shadow /proc/self/root/etc/shadow").await.combined);
    assert!(!said.contains("root:"), "{said}");
}

#[tokio::test]
async fn nothing_outside_the_workspace_can_be_written() {
    let outside = workspace();
    let path = outside.path().join("new");
    only_works_outside(&format!("echo x > {} && echo worked", path.display())).await;
    let room = Room::open(&*confined()).await;
    for place in ["/", "/usr", "/etc", "/bin", "/lib", "/home", "/dev", "/run", "/proc/sys/kernel", "/var"] {
        if place == "/dev" && is_docker() && is_root() {
            // Known: it is the container's own, and belongs to root.
            continue;
        }
        let script = format!("touch {place}/new 2>/dev/null && echo worked");
        assert_eq!(text(&room.bash(&script).await.combined), "", "{place}");
    }
    room.says("touch /workspace/new /tmp/new ~/new /dev/shm/new").await;
    assert!(room.file("new").exists());
}

#[tokio::test]
async fn the_home_of_the_host_is_hidden() {
    let found = std::env::home_dir().and_then(|home| Some((fs::metadata(&home).ok()?, home)));
    let Some((there, home)) = found else {
        eprintln!("skipped: this user has no home to hide");
        return;
    };
    // An image has a home for root too, which is another.
    let (home, identity) = (home.display(), format!("{}:{}", there.dev(), there.ino()));
    only_works_outside(&format!("[ \"$(stat -c %d:%i {home})\" = {identity} ] && echo worked")).await;
}

#[tokio::test]
async fn a_program_cannot_be_made_set_user_id() {
    only_works_outside("touch file; chmod 4755 file; [ -u file ] && echo worked").await;
    only_works_outside("touch file; chmod 2755 file; [ -g file ] && echo worked").await;
    let room = Room::open(&*confined()).await;
    room.says("touch file; chmod 755 file; [ -x file ]").await;
    assert_eq!(fs::metadata(room.file("file")).expect("made").permissions().mode() & 0o7777, 0o755);
}

#[tokio::test]
async fn protected_paths_are_read_only_and_stay_where_they_are() {
    let prepare = |policy: &mut Policy| {
        fs::create_dir_all(policy.workspace.join(".git/hooks")).expect("made");
        fs::write(policy.workspace.join(".git/config"), "kept").expect("written");
        fs::create_dir_all(policy.workspace.join("a/b")).expect("made");
        fs::write(policy.workspace.join("a/b/check"), "kept").expect("written");
    };
    let attacks = [
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git; [ ! -e .git ]",
        "mv .git elsewhere",
        "mv a elsewhere && mkdir -p a/b && echo x > a/b/check",
        "rm -f a/b/check; [ ! -e a/b/check ]",
        "chmod 777 .git/config",
    ];
    for attack in attacks {
        let script = format!("{attack} && echo worked");
        let protect = |policy: &mut Policy| {
            prepare(policy);
            policy.protected = vec![".git".into(), "a/b".into(), "does/not/exist".into()];
        };
        let room = Room::open_with(&*confined(), protect).await;
        let exit = room.bash(&script).await;
        assert!(!text(&exit.combined).contains("worked"), "{attack}: {}", text(&exit.combined));
        assert_eq!(fs::read_to_string(room.file(".git/config")).expect("there"), "kept");
        assert_eq!(fs::read_to_string(room.file("a/b/check")).expect("there"), "kept");
        assert!(!room.file("does").exists());
        room.says("cat .git/config a/b/check; touch a/new new").await;
        let unprotected = |policy: &mut Policy| {
            prepare(policy);
            policy.guarded.clear();
        };
        let control = Room::open_with(&*confined(), unprotected).await.bash(&script).await;
        assert!(text(&control.combined).contains("worked"), "{attack}: {}", text(&control.combined));
    }
}

#[tokio::test]
async fn read_only_mounts_can_be_read_and_no_more() {
    let shared = workspace();
    fs::write(shared.path().join("file"), "shared").expect("writes");
    let mount = |policy: &mut Policy| {
        policy.readonly_mounts.push((shared.path().to_path_buf(), "/opt/shared".into()));
    };
    let room = Room::open_with(&*confined(), mount).await;
    assert_eq!(room.says("cat /opt/shared/file").await, "shared");
    assert!(!room.bash("echo x > /opt/shared/file").await.success());
    assert!(!room.bash("touch /opt/shared/new").await.success());
}

#[tokio::test]
async fn the_environment_is_the_allow_list_and_nothing_more() {
    for provider in [confined(), Box::new(process())] {
        let change = |policy: &mut Policy| {
            policy.env = BTreeMap::from([("LANG".into(), "C".into()), ("HOME".into(), "/tmp".into())]);
        };
        let room = Room::open_with(&*provider, change).await;
        let mut command = Command::new(["env"]);
        command.env = BTreeMap::from([("CI".into(), "1".into()), ("LANG".into(), "C.UTF-8".into())]);
        let said = text(&room.run(command).await.stdout);
        let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        assert_eq!(said.lines().collect::<Vec<_>>(), ["CI=1", "HOME=/tmp", "LANG=C.UTF-8", path]);

        let mut command = Command::new(["true"]);
        command.env = BTreeMap::from([("A=B".into(), "x".into())]);
        assert!(room.try_run(command).await.is_err());
    }
    let home = Room::open(&*confined()).await.says("echo $HOME; ls -A ~").await;
    assert_eq!(home, "/home/agent");
}

#[tokio::test]
async fn the_host_is_not_described_inside() {
    let room = Room::open(&*confined()).await;
    assert_eq!(room.says("id -un; cat /proc/sys/kernel/hostname; pwd").await, "agent\nsandbox\n/workspace");
    let accounts = room.says("cut -d: -f1 /etc/passwd").await;
    assert!(accounts.lines().all(|account| ["root", "agent", "nobody"].contains(&account)), "{accounts}");
    if !is_docker() {
        assert_eq!(room.says("ls /run").await, "attacker");
        assert_eq!(room.says("ls -d /var /root /boot /sys /srv /etc/ssl/private /etc/ssh 2>/dev/null; true").await, "");
    }
    assert_eq!(room.says("find /dev -type b; ls -d /dev/kvm /dev/mem /dev/kmsg /dev/fuse 2>/dev/null; true").await, "");
}

#[tokio::test]
async fn the_machine_is_not_described_in_proc() {
    let files = "cmdline interrupts kcore keys latency_stats sched_debug timer_list timer_stats";
    let script = format!(
        "cd /proc; for file in {files}; do [ $(head -c 1 $file 2>/dev/null | wc -c) = 1 ] && echo $file; done; true"
    );
    let inside = Room::open(&*confined()).await;
    assert_eq!(inside.says(&script).await, "");
    let outside = Room::open(&process()).await.says(&script).await;
    assert!(outside.contains("cmdline"), "what there is to hide: {outside}");
    inside.says("grep -q MemTotal /proc/meminfo && grep -q processor /proc/cpuinfo && head -c 1 /proc/stat").await;
}

#[tokio::test]
async fn ordinary_tools_work() {
    let room = Room::open(&*confined()).await;
    let tools = [
        (
            "git",
            "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git log --format=%s",
            "m",
        ),
        ("cc", "echo 'int main(){return 0;}' > a.c && cc a.c -o a && ./a && echo built", "built"),
        (
            "python3",
            "python3 -c 'import ssl, socket, subprocess, multiprocessing as m; print(subprocess.check_output([\"echo\",\"ok\"]).decode().strip(), m.Pool(2).map(abs,[-1]))'",
            "ok [1]",
        ),
        ("perl", "perl -e 'print scalar getpwuid($<)'", "agent"),
        (
            "node",
            "node -e 'require(\"fs\").promises.readFile(\"/etc/passwd\").then(t => console.log(t.length > 0))'",
            "true",
        ),
        ("tar", "mkdir d && touch d/f && tar cf d.tar d && tar tf d.tar", "d/\nd/f"),
        ("tmux-like", "script -qec 'echo in a terminal' /dev/null | tr -d '\\r'", "in a terminal"),
    ];
    for (tool, script, expected) in tools {
        let is_there = tool == "tmux-like" || room.bash(&format!("command -v {tool}")).await.success();
        if is_there {
            assert_eq!(room.says(script).await, expected, "{tool}");
        } else {
            eprintln!("skipped: no {tool} inside");
        }
    }
    let exit = room.bash("mkfifo p; (echo through > p &) ; cat p; rm p").await;
    assert_eq!((exit.status, text(&exit.combined)), (Status::Code(0), "through\n".into()));
}
