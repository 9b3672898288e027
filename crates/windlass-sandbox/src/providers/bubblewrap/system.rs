//! The parts of the host's system that every sandbox sees, read-only: programs, libraries, certificates, and the few
//! files of `/etc` without which compilers, interpreters and git do not work. No accounts, keys, host names or resolver.

use std::{ffi::OsString, fs, path::Path};

/// At the root, directories or links to one below `/usr`.
const ROOT: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files and directories of `/etc`. Where a directory mixes public and private things, as `ssl` does, only its public
/// parts are named.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
];

/// Names in `/etc` that begin like this and carry a version.
const ETC_VERSIONED: &[&str] = &["java-", "python"];

/// Files that are made up, so that lookups work and say nothing about the host.
pub(crate) const MADE_UP: &[(&str, &str)] = &[
    ("/etc/passwd", PASSWD),
    ("/etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"),
    ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    (
        "/etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\n",
    ),
];

pub(crate) const HOME: &str = "/home/agent";
const PASSWD: &str = "root:x:0:0:root:/root:/usr/sbin/nologin\n\
    agent:x:1000:1000:agent:/home/agent:/bin/bash\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";

/// Bubblewrap arguments for all of it.
pub(crate) fn arguments() -> Vec<OsString> {
    let mut arguments = Vec::new();
    mount(&mut arguments, Path::new("/usr"));
    for path in ROOT {
        mount(&mut arguments, Path::new(path));
    }
    for name in ETC {
        mount(&mut arguments, &Path::new("/etc").join(name));
    }
    for entry in fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_versioned =
            |prefix: &&str| name.to_str().is_some_and(|name| name.starts_with(prefix));
        if ETC_VERSIONED.iter().any(is_versioned) {
            mount(&mut arguments, &entry.path());
        }
    }
    arguments
}

/// A link stays a link as long as it points into what is mounted; what it points to elsewhere is mounted in its place.
fn mount(arguments: &mut Vec<OsString>, path: &Path) {
    let Ok(real) = path.canonicalize() else {
        return;
    };
    match fs::read_link(path) {
        Ok(target) if real.starts_with("/usr") => {
            arguments.extend(["--symlink".into(), target.into(), path.into()]);
        }
        _ => arguments.extend(["--ro-bind".into(), real.into(), path.into()]),
    }
}
