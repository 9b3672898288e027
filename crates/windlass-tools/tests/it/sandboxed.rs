//! The tools and a real bubblewrap sandbox over one folder: each sees what the other did, and neither sees more.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_domain::{CallStatus, CancelSignal, Canceller, SkillSeen, Stop, ToolCall};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, Policy, Provider, Sandbox, Supervisor};
use windlass_tools::skills::{INSIDE, Shelf};
use windlass_tools::{Confinement, Context, Kit, Limits, Ran, Toolset};

use crate::skills::Shop;
use crate::support::{execution, permit};

struct Real {
    folder: TempDir,
    tools: Toolset,
    sandbox: Arc<dyn Sandbox>,
    executor: tokio::runtime::Runtime,
}

impl Real {
    fn new() -> Self {
        Self::with_skills(None)
    }

    /// With these skills where the sandbox shows them.
    fn with_skills(shelf: Option<(&Shelf, &[SkillSeen])>) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
        let provider = Bubblewrap::new(Supervisor { program: supervisor(), args: Vec::new() });
        let mut policy = Policy::new(folder.path());
        policy.protected = vec![".git".into()];
        let place = shelf.map(|(shelf, seen)| (shelf.place(seen), INSIDE.into()));
        policy.readonly_mounts.extend(place);
        let sandbox: Arc<dyn Sandbox> = executor.block_on(provider.open(policy)).unwrap().into();
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let limits = Limits { output_tokens: 8_000 };
        let mut context = Context::new(folder.path(), sandbox.clone(), runtime, limits).unwrap();
        if let Some((shelf, seen)) = shelf {
            context.skills = shelf.open(seen).unwrap();
        }
        let tools = Toolset::new(context, Kit::executor(Confinement::Sealed));
        Self { folder, tools, sandbox, executor }
    }

    fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.call_until(tool, arguments, CancelSignal::never(), &mut |_| {})
    }

    fn call_until(
        &self,
        tool: &str,
        arguments: &Value,
        cancel: CancelSignal,
        watch: &mut (dyn FnMut(&str) + Send),
    ) -> Ran {
        let call = ToolCall::new("call_1", tool, &arguments.to_string());
        self.executor.block_on(async {
            let prepared = self.tools.prepare(&call).await.unwrap();
            self.tools.run(execution(), permit(call, prepared.effect), cancel, watch).await
        })
    }

    fn bash(&self, command: &str) -> Ran {
        self.call("bash", &json!({ "command": command }))
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        self.executor.block_on(self.sandbox.close());
    }
}

/// The example of this crate, which cargo builds for its tests.
pub fn supervisor() -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples/supervisor")
}

#[test]
fn a_python_script_runs_in_the_same_sandbox() {
    let real = Real::new();
    real.call("write", &json!({ "path": "data.txt", "content": "one\ntwo\n" }));
    let script = "import os\nlines = open('data.txt').read().split()\nopen('count', 'w').write(str(len(lines)))\n\
                  print(f'{lines!r} in {os.getcwd()}')\nraise SystemExit(3)";
    let ran = real.call("python_exec", &json!({ "script": script }));
    assert_eq!(ran.content, "Exit code: 3\n\n['one', 'two'] in /workspace\n");
    assert_eq!(std::fs::read_to_string(real.folder.path().join("count")).unwrap(), "2");
}

#[test]
fn a_script_of_a_skill_runs_where_it_stands_and_changes_nothing_there() {
    let shop = Shop::new();
    shop.skill("user", "count", "Count lines");
    shop.put("user/count/scripts/count.sh", "wc -l < \"$2\"; echo \"$@\"; test -w \"$0\" || echo read-only");
    std::fs::create_dir_all(shop.path("shelf")).unwrap();
    let shelf = Shelf::new(shop.path("shelf"));
    let seen = shelf.keep(&shop.library()).unwrap();
    let real = Real::with_skills(Some((&shelf, &seen)));
    real.call("write", &json!({ "path": "data.txt", "content": "one\ntwo\n" }));
    let arguments = json!({ "skill_name": "count", "script_name": "count.sh", "args": { "in": "data.txt", "n": 2 } });
    let ran = real.call("skill_exec", &arguments);
    assert_eq!(ran.content, "Exit code: 0\n\n2\n--in data.txt --n 2\nread-only\n");
}

#[test]
fn commands_and_tools_see_the_same_files() {
    let real = Real::new();
    real.call("write", &json!({ "path": "hello.sh", "content": "echo from the script: $1\nexit 3\n" }));
    let ran = real.call(
        "bash",
        &json!({ "command": "bash ../hello.sh one 2>&1; ls missing; mkdir x; exit 4", "cwd": "/workspace/.git/.." }),
    );
    assert_eq!(ran.status, CallStatus::Error, "{}", ran.content);
    let ran = real.bash("bash hello.sh one; echo to stderr >&2; mkdir made && echo made > made/file; exit 4");
    assert_eq!(
        (ran.status, ran.content.as_str()),
        (CallStatus::Error, "Exit code: 4\n\nfrom the script: one\nto stderr\n")
    );
    let ran = real.call("read", &json!({ "path": "/workspace/made/file" }));
    assert_eq!(ran.content, "     1\tmade\n");
}

#[test]
fn neither_door_leads_to_git_or_out() {
    let real = Real::new();
    let ran = real.bash("echo evil > .git/config");
    assert_eq!(ran.status, CallStatus::Error, "{}", ran.content);
    let ran = real.bash("ln -s /etc passwords; ln -s ../.. up; mkfifo pipe");
    assert_eq!(ran.status, CallStatus::Ok, "{}", ran.content);
    for path in ["passwords/passwd", "up/etc/passwd", "pipe"] {
        let ran = real.call("read", &json!({ "path": path }));
        assert_eq!(ran.status, CallStatus::Error, "{path}: {}", ran.content);
    }
    assert_eq!(std::fs::read_dir(real.folder.path().join(".git")).unwrap().count(), 0);
}

#[test]
fn a_command_beyond_its_time_is_killed_and_said_so() {
    let real = Real::new();
    let ran = real.call("bash", &json!({ "command": "echo begun; sleep 1000", "timeout_seconds": 1 }));
    assert_eq!(ran.status, CallStatus::TimedOut);
    assert!(
        ran.content.starts_with("Timed out after 1 seconds") && ran.content.ends_with("begun\n"),
        "{}",
        ran.content
    );
}

#[test]
fn cancelling_stops_a_command_that_has_begun() {
    let real = Real::new();
    let canceller = Canceller::default();
    let mut watch = |text: &str| {
        if text.contains("begun") {
            canceller.stop(Stop::Cancel);
        }
    };
    let arguments = json!({ "command": "echo begun; sleep 1000; echo never" });
    let ran = real.call_until("bash", &arguments, canceller.signal(), &mut watch);
    assert_eq!(ran.status, CallStatus::Cancelled, "{}", ran.content);
    assert!(!ran.content.contains("never"));
}

#[test]
fn a_flood_is_cut_in_memory_and_in_the_window() {
    let real = Real::new();
    let mut watched = 0;
    let mut watch = |text: &str| watched += text.len();
    let script = "echo begun; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo error: the reason";
    let ran = real.call_until("bash", &json!({ "command": script }), CancelSignal::never(), &mut watch);
    let whole = String::from_utf8(ran.full_output.unwrap()).unwrap();
    let dropped = 20_000_025 - 8_388_608;
    let said = format!("Exit code: 0\n[{dropped} bytes in the middle of the output were left out]\n\nbegun\nxxx");
    assert!(ran.content.starts_with(&said), "{}", &ran.content[..100]);
    assert!(ran.content.ends_with("Use read tool to access.]"));
    assert!(ran.content.len() < 33_000);
    assert!(whole.len() < 8_400_000);
    assert!(whole.contains(&format!("xxx\n[... {dropped} bytes left out ...]\nxxx")));
    assert!(whole.ends_with("xxx\nerror: the reason\n"), "the end is where errors are");
    assert_eq!(watched, 8_388_608, "whoever watches sees the beginning");
}
