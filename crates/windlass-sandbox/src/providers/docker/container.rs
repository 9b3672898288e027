//! One container: what it is made of, how it comes up, and its end.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines and tasks here belong to real containers, which no simulated clock can hurry"
)]

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Resource, getrlimit};
use serde_json::{Map, Value, json};
use tokio::{io::AsyncReadExt, time::timeout};

use super::{
    Failed,
    client::Client,
    orphans, refusal,
    rendezvous::{self, Rendezvous},
};
use crate::{
    Error, Policy, Supervisor,
    host::Body,
    policy::{HOME, Home, Scratch, WORKSPACE, around},
    providers::inside::{MASKED, made_up},
    supervisor::CONNECT,
};

/// Where our own program is inside.
const SUPERVISOR: &str = "/run/windlass-supervisor";
/// For all the commands that it may have at once.
const SUPERVISOR_FILES: u64 = 4096;
/// What Podman allows itself.
const MOST_PROCESSES: u64 = 32_768;
/// For a container to come up.
const PATIENCE: Duration = Duration::from_secs(60);
/// For one to go.
const FAREWELL: Duration = Duration::from_secs(15);
const LONGEST_WORDS: u64 = 8 << 10;

/// Removed when it is dropped before it has come up.
pub(crate) struct Container {
    client: Client,
    id: String,
    has_come_up: bool,
}

impl Container {
    pub(crate) async fn create(client: &Client, wanted: &Value) -> Result<Self, Failed> {
        let created = client.post("/containers/create", Some(wanted)).await?;
        let id = created["Id"].as_str().unwrap_or_default().to_owned();
        Ok(Self { client: client.clone(), id, has_come_up: false })
    }

    /// Returns when its supervisor has come to the rendezvous.
    pub(crate) async fn start(&mut self, rendezvous: &Rendezvous) -> Result<(OwnedFd, Body), Failed> {
        // Before it starts, or its last words would be gone with it.
        let path = format!("/containers/{}/attach?stream=1&stdout=1&stderr=1", self.id);
        let said = self.client.stream(&path).await?;
        self.client.post(&format!("/containers/{}/start", self.id), None).await?;
        let met = tokio::select! {
            met = rendezvous.meet() => met.map_err(Error::io("meet the supervisor"))?,
            said = last_words(said) => return Err(Failed::ForNow(refusal::ended(&said))),
            () = tokio::time::sleep(PATIENCE) => {
                let detail = "the supervisor in the container did not come up".to_owned();
                return Err(Error::Died { detail }.into());
            }
        };
        self.has_come_up = true;
        Ok(met)
    }

    /// Waits until it is. Its supervisor has ended; the daemon then removes it.
    pub(crate) async fn is_gone(&self) {
        let path = format!("/containers/{}/wait?condition=removed", self.id);
        if timeout(FAREWELL, self.client.post(&path, None)).await.is_err() {
            remove(&self.client, &self.id).await;
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.has_come_up {
            return;
        }
        let (client, id) = (self.client.clone(), std::mem::take(&mut self.id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { remove(&client, &id).await });
        }
    }
}

/// One that is gone already is as good.
pub(crate) async fn remove(client: &Client, id: &str) {
    let _ = client.delete(&format!("/containers/{id}?force=1&v=1")).await;
}

/// All that a container says until it ends, out of the frames that the daemon puts it into.
async fn last_words(said: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut framed = Vec::new();
    let _ = said.take(LONGEST_WORDS).read_to_end(&mut framed).await;
    unframed(&framed)
}

/// A frame is the stream, three zeros, a length of four bytes, and so much.
fn unframed(mut framed: &[u8]) -> String {
    let mut said = Vec::new();
    while let Some(([_, _, _, _, length @ ..], rest)) = framed.split_first_chunk::<8>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX).min(rest.len());
        said.extend_from_slice(&rest[..length]);
        framed = &rest[length..];
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// What a container is made from.
pub(crate) struct Wanted<'a> {
    pub(crate) image: &'a str,
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) rendezvous: &'a Rendezvous,
    pub(crate) cpus: f64,
    pub(crate) user: (u32, u32),
    pub(crate) policy: &'a Policy,
}

impl Wanted<'_> {
    pub(crate) fn to_json(&self) -> Result<Value, Error> {
        let (uid, gid) = self.user;
        let limits = &self.policy.limits;
        let mut words: Vec<Value> = Vec::new();
        for word in &self.supervisor.args {
            words.push(text(Path::new(word))?);
        }
        words.extend([CONNECT.into(), Rendezvous::socket_inside().into()]);
        Ok(json!({
            "Image": self.image,
            "User": format!("{uid}:{gid}"),
            "Entrypoint": [SUPERVISOR],
            "Cmd": words,
            "WorkingDir": "/",
            "Hostname": "sandbox",
            "NetworkDisabled": true,
            "Labels": orphans::labels(self.policy.label.as_deref()),
            "HostConfig": {
                "AutoRemove": true,
                "NetworkMode": "none",
                "IpcMode": "private",
                "ReadonlyRootfs": true,
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
                "LogConfig": { "Type": "none" },
                // If the machine runs out of memory, the sandbox goes before its owner.
                "OomScoreAdj": 500,
                "Memory": limits.memory_bytes,
                // The same means: no swap.
                "MemorySwap": limits.memory_bytes,
                "PidsLimit": limits.processes,
                "Ulimits": ulimits(limits.open_files),
                "NanoCpus": (self.cpus * 1e9) as u64,
                "ShmSize": self.scratch_bytes("/dev/shm"),
                "Tmpfs": self.scratch(),
                "MaskedPaths": masked(),
                "Mounts": self.mounts()?,
            },
        }))
    }

    fn scratch_bytes(&self, place: &str) -> u64 {
        let scratch = Scratch::all(Home::InMemory).find(|scratch| scratch.place == place);
        scratch.map_or(0, |scratch| scratch.bytes(&self.policy.limits))
    }

    /// But for `/dev/shm`, which every container has. Anybody's, since not every daemon can say whose, and inside there is
    /// one user only.
    fn scratch(&self) -> Map<String, Value> {
        let others = Scratch::all(self.policy.where_home_is()).filter(|scratch| scratch.place != "/dev/shm");
        let options = others.map(|scratch| {
            let options = format!("rw,exec,nosuid,nodev,mode=1777,size={}", scratch.bytes(&self.policy.limits));
            (scratch.place.to_owned(), options.into())
        });
        options.collect()
    }

    /// The daemon puts what lies deeper on top, whatever the order here.
    fn mounts(&self) -> Result<Vec<Value>, Error> {
        let Policy { workspace, home, protected, readonly_mounts, .. } = self.policy;
        let inside = Path::new(WORKSPACE);
        let mut mounts = vec![
            mount(&self.supervisor.program, Path::new(SUPERVISOR), Access::Read)?,
            mount(self.rendezvous.directory(), Path::new(rendezvous::INSIDE), Access::Read)?,
            mount(workspace, inside, Access::Write)?,
        ];
        if let Some(home) = home {
            mounts.push(mount(home, Path::new(HOME), Access::Write)?);
        }
        let no_resolver = ("/etc/resolv.conf", String::new());
        for (place, text) in made_up(self.user).into_iter().chain([no_resolver]) {
            let file = self.rendezvous.put(place, &text).map_err(Error::io("describe a container"))?;
            mounts.push(mount(&file, Path::new(place), Access::Read)?);
        }
        // Each place once, as the daemon demands: what is both around and protected is protected.
        for path in around(protected).into_iter().filter(|path| !protected.iter().any(|other| other == path)) {
            mounts.push(mount(&workspace.join(path), &inside.join(path), Access::Write)?);
        }
        let protected: std::collections::BTreeSet<&PathBuf> = protected.iter().collect();
        for path in protected {
            mounts.push(mount(&workspace.join(path), &inside.join(path), Access::Read)?);
        }
        for (host, inside) in readonly_mounts {
            mounts.push(mount(host, inside, Access::Read)?);
        }
        Ok(mounts)
    }
}

/// Those of the supervisor, which sets its commands' by itself. Said, because a daemon's own defaults may be more than the
/// machine allows it. The number of processes counts all of a user's on the machine, so that it is large.
fn ulimits(open_files: u64) -> Value {
    let open_files = open_files.max(SUPERVISOR_FILES);
    let processes = getrlimit(Resource::Nproc).maximum.map_or(MOST_PROCESSES, |most| most.min(MOST_PROCESSES));
    json!([
        { "Name": "nofile", "Soft": open_files, "Hard": open_files },
        { "Name": "nproc", "Soft": processes, "Hard": processes },
    ])
}

/// Ours, and what the daemon would mask if nothing were said.
fn masked() -> Vec<String> {
    let usual = ["/proc/acpi", "/proc/asound", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"];
    let ours = MASKED.iter().map(|name| format!("/proc/{name}"));
    usual.into_iter().map(str::to_owned).chain(ours).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

fn mount(host: &Path, inside: &Path, access: Access) -> Result<Value, Error> {
    Ok(json!({
        "Type": "bind",
        "Source": text(host)?,
        "Target": text(inside)?,
        "ReadOnly": access == Access::Read,
        "BindOptions": { "Propagation": "rprivate" },
    }))
}

fn text(path: &Path) -> Result<Value, Error> {
    let why = || io::Error::other(format!("{} is not text, which a daemon would need", path.display()));
    path.to_str().map(Value::from).ok_or_else(why).map_err(Error::io("describe a container"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_taken_out_of_their_frames() {
        let framed = b"\x02\0\0\0\0\0\0\x05first\x01\0\0\0\0\0\0\x08 second\n\x02\0\0\0\0\0\0\xff cut";
        assert_eq!(unframed(framed), "first second\n cut");
        assert_eq!(unframed(b""), "");
        assert_eq!(unframed(b"\x02\0\0"), "");
    }
}
