//! Running a gate's script: in a sandbox of its own over a disposable folder that holds `input.json`, the same on standard
//! input, the scripts read-only at `/gates`, which is where it runs. It ends with an answer in any case; what the answer
//! means, and that everything but a clear yes blocks, is `windlass_policy::gate`'s to say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_domain::Runtime;
use windlass_policy::gate::Answer;
use windlass_sandbox::{Cancel, Command, Exit, Network, Policy, Provider, Status, Stdin, discard};
use windlass_workspace::remove_folder;

/// Where scripts are inside.
const INSIDE: &str = "/gates";
/// An answer is a few words; one that is longer is none.
const OUTPUT_CAP: usize = 1 << 20;

/// As `Request::Script` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateScript {
    pub argv: Vec<String>,
    pub stdin: String,
    pub timeout_seconds: u64,
}

/// `policy` is what the operator lets a sandbox have; its workspace is a folder that is not there yet, and is not there
/// afterwards. `scripts` is a folder that holds scripts and nothing else; without one a script runs in the workspace.
pub async fn run_script(
    runtime: &dyn Runtime,
    provider: &dyn Provider,
    mut policy: Policy,
    scripts: Option<&Path>,
    script: GateScript,
    cancel: Cancel,
) -> Answer {
    // A gate decides by what it is shown.
    policy.network = Network::None;
    policy.readonly_mounts.extend(scripts.map(|folder| (folder.to_owned(), PathBuf::from(INSIDE))));
    let (folder, input) = (policy.workspace.clone(), script.stdin.clone());
    let cwd = scripts.map_or_else(PathBuf::new, |_| PathBuf::from(INSIDE));
    let place = folder.clone();
    if let Err(error) = runtime.blocking(move || prepare(&place, &input)).await {
        return Answer::Failed(format!("the script's folder cannot be made: {error}"));
    }
    let answer = match run(provider, policy, cwd, script, cancel).await {
        Ok(exit) => answer(exit),
        Err(error) => Answer::Failed(format!("the script was not run: failed to {error}")),
    };
    // What stays behind is in nobody's way: no folder is used twice.
    let _removed = runtime.blocking(move || remove_folder(&folder)).await;
    answer
}

fn prepare(folder: &Path, input: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("input.json"), input)
}

async fn run(
    provider: &dyn Provider,
    policy: Policy,
    cwd: PathBuf,
    script: GateScript,
    cancel: Cancel,
) -> Result<Exit, windlass_sandbox::Error> {
    let sandbox = provider.open(policy).await?;
    let mut command = Command::new(script.argv);
    command.cwd = cwd;
    command.stdin = Stdin::Bytes(script.stdin.into_bytes());
    command.timeout = Duration::from_secs(script.timeout_seconds);
    command.output_cap = OUTPUT_CAP;
    let ran = sandbox.run(command, &mut discard, cancel).await;
    sandbox.close().await;
    ran
}

fn answer(exit: Exit) -> Answer {
    match exit.status {
        Status::Code(exit_code) => match String::from_utf8(exit.stdout) {
            Ok(stdout) => Answer::Ran { exit_code, stdout },
            Err(_) => Answer::Failed("the script's answer is not UTF-8".to_owned()),
        },
        Status::TimedOut => Answer::TimedOut,
        Status::Signal(signal) => Answer::Failed(format!("the script was ended by signal {signal}")),
        Status::Cancelled => Answer::Failed("the script was stopped".to_owned()),
        Status::OutOfMemory => Answer::Failed("the script took too much memory".to_owned()),
        Status::TooManyProcesses => Answer::Failed("the script started too many processes".to_owned()),
    }
}
