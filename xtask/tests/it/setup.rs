//! The set-up script, on machines that lack something. A machine here is a folder of stand-in programs that is the script's
//! whole PATH; each writes down how it was called, so that a test can say what was run and what was left alone.
#![expect(clippy::disallowed_methods, reason = "these tests start the script they are about")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

struct Machine {
    folder: TempDir,
}

impl Machine {
    /// A machine that has everything, and on which we are root.
    fn complete() -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a temporary folder can be made") };
        for program in ["bash", "chmod", "cut", "env", "head", "sort"] {
            symlink(find(program), machine.path(program)).expect("the program can be linked");
        }
        machine
            .with("id", "echo 0")
            .with("rustc", "echo 'rustc 1.95.0 (abc 2026-03-21)'")
            .with("cargo", "exit 0")
            .with("cc", "exit 0")
            .with("bwrap", "exit 0")
            .with("apt-get", "exit 0")
    }

    fn path(&self, program: &str) -> PathBuf {
        self.folder.path().join(program)
    }

    fn with(self, program: &str, body: &str) -> Self {
        let folder = self.folder.path().display();
        let script = format!("#!/bin/sh\necho \"{program} $*\" >> {folder}/calls.log\nhere={folder}\n{body}\n");
        fs::write(self.path(program), script).expect("the stand-in can be written");
        fs::set_permissions(self.path(program), fs::Permissions::from_mode(0o755)).expect("it can be made executable");
        self
    }

    fn without(self, program: &str) -> Self {
        fs::remove_file(self.path(program)).expect("the stand-in was there");
        self
    }

    /// apt-get that installs by making the program appear.
    fn with_working_apt(self, program: &str) -> Self {
        let body = format!(
            "case \"$*\" in *install*) printf '#!/bin/sh\\nexit 0\\n' > $here/{program}; chmod +x $here/{program};; esac"
        );
        self.with("apt-get", &body)
    }

    fn set_up(&self, purpose: &str) -> Run {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/setup");
        let output = Command::new(self.path("bash"))
            .arg(script)
            .arg(purpose)
            .env_clear()
            .env("PATH", self.folder.path())
            .output()
            .expect("bash starts");
        let calls = fs::read_to_string(self.path("calls.log")).unwrap_or_default();
        Run { output, calls }
    }
}

fn find(program: &str) -> PathBuf {
    ["/bin", "/usr/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| path.exists())
        .expect("Debian has this program")
}

struct Run {
    output: Output,
    calls: String,
}

impl Run {
    fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    #[track_caller]
    fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.output.status.code(), Some(code), "{}\n{}", self.said(), self.calls);
        self
    }

    #[track_caller]
    fn says(&self, words: &str) -> &Self {
        assert!(self.said().contains(words), "said {:?}, not {words:?}", self.said());
        self
    }

    #[track_caller]
    fn called(&self, call: &str) -> &Self {
        assert!(self.calls.lines().any(|line| line == call), "never called {call:?}:\n{}", self.calls);
        self
    }

    #[track_caller]
    fn never_called(&self, beginning: &str) -> &Self {
        assert!(!self.calls.lines().any(|line| line.starts_with(beginning)), "called:\n{}", self.calls);
        self
    }
}

const INSTALL: &str = "apt-get -qq install -y --no-install-recommends";

#[test]
fn a_complete_machine_is_left_alone_in_silence() {
    let run = Machine::complete().set_up("test");
    run.ends(0).never_called("apt-get").never_called("cargo install");
    assert_eq!(run.said(), "");
    assert_eq!(run.output.stdout, b"");
}

#[test]
fn root_installs_what_is_missing_and_nothing_else() {
    let run = Machine::complete().without("bwrap").with_working_apt("bwrap").set_up("run");
    run.ends(0).says("installing bubblewrap").called("apt-get -qq update").called(&format!("{INSTALL} bubblewrap"));
}

#[test]
fn a_missing_compiler_brings_the_headers_too() {
    let run = Machine::complete().without("cc").with_working_apt("cc").set_up("run");
    run.ends(0).called(&format!("{INSTALL} gcc libc6-dev"));
}

#[test]
fn a_compiler_without_headers_gets_the_headers() {
    let run = Machine::complete().with("cc", "exit 1").with_working_apt("cc").set_up("run");
    run.ends(0).called(&format!("{INSTALL} libc6-dev"));
}

#[test]
fn a_user_with_sudo_installs_through_it() {
    let machine = Machine::complete().with("id", "echo 1000").without("bwrap").with_working_apt("bwrap");
    let run = machine.with("sudo", "shift; [ \"$1\" = true ] || \"$@\"").set_up("run");
    run.ends(0).called("sudo -n apt-get -qq update").called(&format!("{INSTALL} bubblewrap"));
}

#[test]
fn a_user_without_sudo_is_told_the_package_and_the_command() {
    for sudo in [None, Some("exit 1")] {
        let mut machine = Machine::complete().with("id", "echo 1000").without("bwrap");
        if let Some(body) = sudo {
            machine = machine.with("sudo", body);
        }
        let run = machine.set_up("run");
        run.ends(1).says("run: sudo apt-get install bubblewrap").never_called("apt-get");
    }
}

#[test]
fn another_system_is_told_the_package() {
    let run = Machine::complete().without("bwrap").without("apt-get").set_up("run");
    run.ends(1).says("needs the Debian packages bubblewrap");
}

#[test]
fn old_package_lists_do_not_stop_the_installation() {
    let machine = Machine::complete().without("bwrap").with_working_apt("bwrap");
    let apt = fs::read_to_string(machine.path("apt-get")).expect("the stand-in was written");
    let failing_update = apt.replace("case ", "case \"$*\" in *update*) exit 100;; esac\ncase ");
    fs::write(machine.path("apt-get"), failing_update).expect("the stand-in can be replaced");
    machine.set_up("run").ends(0).called("apt-get -qq update").says("trying with the old ones");
}

#[test]
fn an_installation_that_fails_or_lies_ends_with_a_message() {
    let failing = Machine::complete().without("bwrap").with("apt-get", "exit 100");
    failing.set_up("run").ends(1).says("apt-get could not install bubblewrap");
    let lying = Machine::complete().without("bwrap");
    lying.set_up("run").ends(1).says("still missing after installing: bubblewrap");
}

#[test]
fn rust_must_be_there_and_new_enough() {
    Machine::complete().without("cargo").set_up("run").ends(1).says("needs Rust 1.95 or newer");
    for (version, code) in [("1.94.1", 1), ("1.9.0", 1), ("1.95.0", 0), ("1.100.0", 0), ("2.0.0-nightly", 0)] {
        let machine = Machine::complete().with("rustc", &format!("echo 'rustc {version} (abc)'"));
        machine.set_up("run").ends(code);
    }
}

const NO_NEXTEST: &str = "[ \"$1\" != nextest ]";

#[test]
fn the_test_runner_is_installed_for_tests_only() {
    let run = Machine::complete().with("cargo", NO_NEXTEST).set_up("test");
    run.ends(0).called("cargo install --locked --quiet cargo-nextest");
    let run = Machine::complete().with("cargo", NO_NEXTEST).set_up("run");
    run.ends(0).never_called("cargo install");
}

#[test]
fn a_prebuilt_test_runner_is_preferred() {
    let machine = Machine::complete().with("cargo", NO_NEXTEST).with("cargo-binstall", "exit 0");
    let run = machine.set_up("test");
    run.ends(0).called("cargo binstall --no-confirm --quiet cargo-nextest").never_called("cargo install");
    let failing = "[ \"$1\" != nextest ] && [ \"$1\" != binstall ]";
    let machine = Machine::complete().with("cargo", failing).with("cargo-binstall", "exit 0");
    machine.set_up("test").ends(0).called("cargo install --locked --quiet cargo-nextest");
}

#[test]
fn wrong_use_is_answered_with_the_usage() {
    Machine::complete()
        .set_up("everything")
        .ends(2)
        .says("usage: scripts/setup [run|test|real|node|docker|browser|redis|postgres]");
}
