//! What every confined sandbox shows and hides of a system, whichever provider makes it.

/// Files that are made up, so that lookups work and say nothing about the host. Who runs commands is called `agent`,
/// whatever the number.
pub(crate) fn made_up((uid, gid): (u32, u32)) -> [(&'static str, String); 4] {
    let root = if uid == 0 { "" } else { "root:x:0:0:root:/root:/usr/sbin/nologin\n" };
    let root_group = if gid == 0 { "" } else { "root:x:0:\n" };
    let passwd = format!(
        "{root}agent:x:{uid}:{gid}:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    );
    [
        ("/etc/passwd", passwd),
        ("/etc/group", format!("{root_group}agent:x:{gid}:\nnogroup:x:65534:\n")),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n".to_owned()),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
    ]
}

/// Files of `/proc` that tell about the whole machine and not about the sandbox: how it was started, its keys, what its
/// devices and its other users are doing. Each costs a mount, so what says little is not here.
pub(crate) const MASKED: [&str; 8] =
    ["cmdline", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "timer_list", "timer_stats"];
