//! Containers whose owner is dead. An owner is known by its process: machine start, pid namespace, pid and start time, since a
//! pid alone is used again. Of an owner on another machine, or in another pid namespace, nothing can be said, and its
//! containers are left alone.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use super::{
    client::{Client, Trouble, encoded},
    container::remove as remove_container,
};

const OWNER: &str = "windlass.owner";

/// For a container of this process.
pub(crate) fn labels(execution: Option<&str>) -> Value {
    let owner = Owner::myself().map(|owner| owner.to_string()).unwrap_or_default();
    json!({ OWNER: owner, "windlass.execution": execution.unwrap_or_default() })
}

/// How many were removed.
pub(crate) async fn remove(client: &Client) -> Result<usize, Trouble> {
    let filters = encoded(&json!({ "label": [OWNER] }).to_string());
    let listed = client.get(&format!("/containers/json?all=1&filters={filters}")).await?;
    let mut removed = 0;
    for container in listed.as_array().into_iter().flatten() {
        let owner = container["Labels"][OWNER].as_str().and_then(Owner::parse);
        if let (Some(id), Some(true)) = (container["Id"].as_str(), owner.map(|owner| owner.is_dead())) {
            remove_container(client, id).await;
            removed += 1;
        }
    }
    Ok(removed)
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    boot: String,
    namespace: String,
    pid: u32,
    started: String,
}

impl Owner {
    fn myself() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whoever has this pid now.
    fn of(pid: u32) -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?.to_str()?.to_owned();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Behind the name, which may hold anything.
        let started = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.to_owned();
        Some(Self { boot, namespace, pid, started })
    }

    fn parse(label: &str) -> Option<Self> {
        let fields: BTreeMap<&str, &str> = label.split(' ').filter_map(|field| field.split_once('=')).collect();
        let field = |name: &str| fields.get(name).map(|value| (*value).to_owned());
        Some(Self {
            boot: field("boot")?,
            namespace: field("namespace")?,
            pid: field("pid")?.parse().ok()?,
            started: field("started")?,
        })
    }

    fn is_dead(&self) -> bool {
        let Some(myself) = Self::myself() else { return false };
        let is_comparable = self.boot == myself.boot && self.namespace == myself.namespace;
        is_comparable && Self::of(self.pid).as_ref() != Some(self)
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { boot, namespace, pid, started } = self;
        write!(to, "boot={boot} namespace={namespace} pid={pid} started={started}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_known_to_be_dead_is_dead() {
        let myself = Owner::myself().expect("a process");
        assert_eq!(Owner::parse(&myself.to_string()), Some(myself.clone()));
        assert!(!myself.is_dead());
        let other = |change: fn(&mut Owner)| {
            let mut owner = myself.clone();
            change(&mut owner);
            owner.is_dead()
        };
        assert!(other(|owner| owner.started = "1".to_owned()), "its pid is somebody else's now");
        assert!(other(|owner| owner.pid = u32::MAX), "nobody has its pid");
        assert!(!other(|owner| (owner.boot, owner.pid) = ("another machine".to_owned(), u32::MAX)));
        assert!(!other(|owner| (owner.namespace, owner.pid) = ("pid:[1]".to_owned(), u32::MAX)));
        assert_eq!(Owner::parse(""), None);
    }
}
