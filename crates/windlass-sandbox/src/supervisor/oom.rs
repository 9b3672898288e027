//! How often the kernel has killed something in this sandbox for want of memory, where the sandbox sees its own control group:
//! in a container. Elsewhere the owner looks.

use std::fs;

/// Of version 2 and of version 1, where a container has its own group mounted.
const FILES: [&str; 2] = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];

pub(crate) fn kills() -> u64 {
    let text = FILES.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    count(&text).unwrap_or(0)
}

fn count(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_say_how_many() {
        assert_eq!(count("low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\n"), Some(3));
        assert_eq!(count("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"), Some(4));
        assert_eq!(count(""), None);
    }
}
