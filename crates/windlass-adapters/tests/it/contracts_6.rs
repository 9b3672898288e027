//! Contracts §6, as far as it is what programs of others are started with: no launch of any of them lets it act unasked, and whoever works on
//! a task is told how to speak to its owner. `xtask/tests/it/contracts_6.rs` has all sentences.

use windlass_adapters::{Adapter, ClaudeCode, Codex, Copilot, LaunchSpec, Markers, Mode, OpenCode, Pi, Session};
use windlass_domain::{ExecutionId, ScopeKind, Wall};

use crate::launching::{SESSION, Scene, scene};

const ALL: [&dyn Adapter; 5] = [&ClaudeCode, &Codex, &Copilot, &OpenCode, &Pi];
/// In capital letters or small, on a command line, in an environment or in a file that is placed.
const BYPASSES: [&str; 12] = [
    "dangerously",
    "bypass",
    "yolo",
    "allow-all",
    "allow_all",
    "allow-all-tools",
    "full-access",
    "acceptedits",
    "is_sandbox",
    "skip-trust",
    "auto-approve",
    "--approve-all",
];

/// One way to start a program, and what is written to it as soon as it runs.
struct Launch {
    mode: Mode,
    spec: LaunchSpec,
    written: Vec<Vec<u8>>,
}

/// Codex's own sandbox is off, since ours is around it: as it is said over its channel, and on its command line. It asks all the same, because it
/// is told not to trust the folder.
const OWN_SANDBOX_OFF: [&str; 2] = ["\"sandbox\":\"danger-full-access\"", "sandbox_mode=\"danger-full-access\""];

/// Every launch there is of a program: in both modes, as a new conversation, one that goes on and one that is copied.
fn launches(adapter: &dyn Adapter, instructions: &str) -> Vec<Launch> {
    let mcp = adapter.agent().takes_mcp.then_some("http://127.0.0.1:4000/mcp");
    let mut launches = Vec::new();
    for mode in [Mode::Structured, Mode::Terminal] {
        for session in [Session::New(SESSION), Session::Resume(SESSION), Session::Fork(SESSION)] {
            for dialect in adapter.agent().dialects {
                let scene = Scene { mode, dialect: *dialect, mcp, session, instructions, ..scene() };
                let launching = scene.launching();
                let Ok(spec) = adapter.launch(&launching) else { continue };
                let is_talked_to = mode == Mode::Structured;
                let written = if is_talked_to { adapter.converse(&launching).begin() } else { Vec::new() };
                launches.push(Launch { mode, spec, written });
            }
        }
    }
    launches
}

fn words(launch: &Launch) -> Vec<String> {
    let Launch { spec, written, .. } = launch;
    let placed = spec.files.iter().map(|file| file.content.clone());
    let variables = spec.env.iter().map(|(name, value)| format!("{name}={value}"));
    let written = written.iter().map(|frame| String::from_utf8(frame.clone()).expect("what is written is text"));
    spec.argv.iter().cloned().chain(variables).chain(placed).chain(written).collect()
}

#[test]
fn permission_bypass_flags_are_never_used() {
    for adapter in ALL {
        let launches = launches(adapter, "Be brief.");
        assert!(launches.len() >= 4, "{}", adapter.agent().id);
        for launch in launches {
            let words = words(&launch);
            let asks = words.iter().any(|word| word.contains("trust_level = \"untrusted\""));
            for word in words {
                let mut lower = word.to_lowercase();
                if asks {
                    for off in OWN_SANDBOX_OFF {
                        lower = lower.replace(off, "");
                    }
                }
                let found = BYPASSES.iter().find(|bypass| lower.contains(**bypass));
                assert!(found.is_none(), "{} in {:?}: {found:?} in {word}", adapter.agent().id, launch.mode);
            }
        }
    }
}

/// By what they are started with, or by the first thing that is said to them.
#[test]
fn marker_instructions_are_given_to_every_agent() {
    let execution = ExecutionId::new(Wall::default(), 7);
    let markers = Markers { execution, scope: ScopeKind::Task, nonce: "n0nce".to_owned() };
    let told = markers.instructions();
    assert!(told.contains("@task::"), "{told}");
    for adapter in ALL {
        for launch in launches(adapter, &told) {
            let is_told = words(&launch).iter().any(|word| word.contains("n0nce"));
            // A copy is entered once it is made, with the same words.
            let is_copied_first = launch.written.iter().any(|frame| frame.windows(13).any(|at| at == b"sessions.fork"));
            assert!(is_told || is_copied_first, "{} in {:?}", adapter.agent().id, launch.mode);
        }
    }
}
