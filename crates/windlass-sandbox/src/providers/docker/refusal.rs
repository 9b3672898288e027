//! What a daemon says when it cannot, turned into what an operator can do about it.

use std::{io, path::Path};

use super::client::Trouble;
use crate::Error;

pub(crate) fn no_daemon(socket: &Path) -> Error {
    Error::Missing {
        program: format!("a Docker daemon at {}", socket.display()),
        hint: "start Docker or Podman's service, or name its socket in DOCKER_HOST as unix:///path",
    }
}

pub(crate) fn of_image(image: &str, trouble: Trouble) -> Error {
    match trouble.is_absence() {
        true => Error::Missing {
            program: format!("the image {image}"),
            hint: "build it with `make image`, or name one that the daemon has in CONTAINER_IMAGE",
        },
        false => explain(trouble),
    }
}

/// A daemon mounts by path, and there is another program now.
pub(crate) fn replaced(program: &Path) -> Error {
    Error::Missing {
        program: format!("{} as it was", program.display()),
        hint: "it was replaced or removed while it runs: start windlass again",
    }
}

pub(crate) fn explain(trouble: Trouble) -> Error {
    match trouble {
        Trouble::Io { socket, source } => match source.kind() {
            io::ErrorKind::PermissionDenied => Error::Refused {
                detail: format!("{}: {source}", socket.display()),
                hint: "join the group that may use Docker (usermod -aG docker USER), or use a daemon of your own",
            },
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => no_daemon(&socket),
            _ => Error::Io { doing: "talk to the Docker daemon", source },
        },
        Trouble::Refused { message, .. } => ended(&message),
    }
}

/// For a container that ended by itself, by what it said.
pub(crate) fn ended(said: &str) -> Error {
    let detail = match said.is_empty() {
        true => "the container ended without a word".to_owned(),
        false => said.to_owned(),
    };
    Error::Refused { hint: hint(said), detail }
}

fn hint(said: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["GLIBC", "no such file or directory", "exec format", "not found"]) && says(&["supervisor", "GLIBC"]) {
        "the image must be able to run windlass itself, which is its supervisor: it needs the libraries of a system that is \
         at least as new as the one windlass was built on (`make image` makes one)"
    } else if says(&["bind source path does not exist", "mounts denied", "not shared"]) {
        "the daemon must run on this machine and see its files"
    } else if says(&["cgroup", "Cgroup"]) {
        "the daemon must be able to make control groups: in a container, give it /sys/fs/cgroup"
    } else {
        "run `windlass doctor`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_its_remedy() {
        let check = |said: &str, remedy: &str| assert!(hint(said).contains(remedy), "{said:?} gave {:?}", hint(said));
        check("exec /run/windlass-supervisor: no such file or directory", "libraries");
        check("/run/windlass-supervisor: /lib/libc.so.6: version `GLIBC_2.39' not found", "make image");
        check("invalid mount config for type \"bind\": bind source path does not exist: /home/x", "see its files");
        check("something else", "doctor");
    }
}
