//! The parts of the host's system that every sandbox sees, read-only: programs, libraries, certificates, and the few
//! files of `/etc` without which compilers, interpreters and git do not work. No accounts, keys, host names or resolver.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::fs::{Access, access};

use crate::{
    policy::SYSTEM,
    providers::inside::{MASKED, made_up},
};

/// Directories of `/etc`. Where one mixes public and private things, as `ssl` does, only its public parts are named.
const MOUNTED: &[&str] = &["alternatives", "crypto-policies", "pki/ca-trust", "pki/tls/certs", "ssl/certs"];

/// Names in `/etc` that begin like this and carry a version.
const MOUNTED_VERSIONED: &[&str] = &["java-"];

/// Files of `/etc`, copied: a mount costs bubblewrap a tenth of a millisecond, a small file next to nothing.
const COPIED: &[&str] = &[
    "ld.so.cache",
    "ld.so.conf",
    "localtime",
    "os-release",
    "pki/tls/openssl.cnf",
    "protocols",
    "services",
    "ssl/openssl.cnf",
];

/// Directories of `/etc` of which every file is copied.
const COPIED_WHOLE: &[&str] = &["ld.so.conf.d"];

/// Who commands are inside.
pub(crate) const USER: (u32, u32) = (1000, 1000);

/// A file that is larger is not what we think it is.
const LARGEST_COPY: u64 = 4 << 20;

/// One thing to put into a sandbox's system.
pub(crate) enum Part {
    /// The host's, read-only, at the same path.
    Mount {
        host: PathBuf,
        inside: PathBuf,
    },
    Link {
        target: PathBuf,
        inside: PathBuf,
    },
    File {
        bytes: Vec<u8>,
        inside: PathBuf,
    },
}

/// Looked up once: what is installed while the owner runs is seen by the next owner.
pub(crate) fn parts() -> &'static [Part] {
    static PARTS: OnceLock<Vec<Part>> = OnceLock::new();
    PARTS.get_or_init(look_up)
}

/// Those that are there. What the owner cannot read, its commands cannot either.
pub(crate) fn masked() -> &'static [PathBuf] {
    static MASKED_HERE: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let is_readable = |path: &PathBuf| access(path, Access::READ_OK).is_ok();
    MASKED_HERE.get_or_init(|| MASKED.iter().map(|name| Path::new("/proc").join(name)).filter(is_readable).collect())
}

fn look_up() -> Vec<Part> {
    let etc = Path::new("/etc");
    let roots = SYSTEM.iter().map(PathBuf::from);
    let mounted = MOUNTED.iter().map(|name| etc.join(name)).chain(versioned());
    let whole = COPIED_WHOLE.iter().flat_map(|name| list(&etc.join(name)));
    let copied = COPIED.iter().map(|name| etc.join(name)).chain(whole);
    let made_up = made_up(USER).into_iter();
    let made_up = made_up.map(|(path, text)| Part::File { bytes: text.into_bytes(), inside: PathBuf::from(path) });
    roots.chain(mounted).filter_map(mount).chain(copied.filter_map(copy)).chain(made_up).collect()
}

fn versioned() -> impl Iterator<Item = PathBuf> {
    let is_versioned = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        MOUNTED_VERSIONED.iter().any(|prefix| name.starts_with(prefix))
    };
    list(Path::new("/etc")).filter(is_versioned)
}

fn list(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// What is not there is not needed here.
fn mount(inside: PathBuf) -> Option<Part> {
    link(&inside).or_else(|| Some(Part::Mount { host: inside.canonicalize().ok()?, inside }))
}

fn copy(inside: PathBuf) -> Option<Part> {
    link(&inside).or_else(|| {
        let metadata = fs::metadata(&inside).ok()?;
        let is_plain = metadata.is_file() && metadata.len() <= LARGEST_COPY;
        let bytes = is_plain.then(|| fs::read(&inside).ok())??;
        Some(Part::File { bytes, inside })
    })
}

/// A link stays a link as long as it points into what is mounted.
fn link(inside: &Path) -> Option<Part> {
    let target = fs::read_link(inside).ok()?;
    let is_mounted = inside.canonicalize().is_ok_and(|real| real.starts_with("/usr"));
    is_mounted.then(|| Part::Link { target, inside: inside.to_path_buf() })
}
