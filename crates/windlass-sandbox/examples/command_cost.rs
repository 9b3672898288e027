//! What a confined command costs, beside what it would cost unconfined: medians in milliseconds.
//!
//! `cargo run --release -p windlass-sandbox --example command_cost`. A benchmark, not a test; compare the rows of one
//! run with each other, never with another run's.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "measures real programs by the real clock")]

use std::{
    future::Future,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use windlass_sandbox::{Bubblewrap, Cgroups, Command, Policy, Provider, Supervisor, discard, never, supervise};

const ROUNDS: usize = 200;
const SUPERVISE: &str = "supervise";

fn main() -> ExitCode {
    // This program is its own supervisor, as the windlass binary is.
    if std::env::args().nth(1).as_deref() == Some(SUPERVISE) {
        return supervise();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
    ExitCode::SUCCESS
}

async fn measure() {
    let workspace = tempfile::tempdir().expect("a directory");
    let supervisor = Supervisor { program: std::env::current_exe().expect("a path"), args: vec![SUPERVISE.into()] };
    let provider = |cgroups| Bubblewrap::new(supervisor.clone()).cgroups(cgroups);
    let open = async |cgroups| provider(cgroups).open(Policy::new(workspace.path())).await.expect("opens");
    let warm = open(Cgroups::Never).await;
    let run_true = async |sandbox: &dyn windlass_sandbox::Sandbox| {
        let exit = sandbox.run(Command::new(["/usr/bin/true"]), &mut discard, never()).await;
        assert!(exit.expect("runs").success());
    };

    let plain = median(async || spawn_and_wait("/usr/bin/true", &[])).await;
    let bare = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"];
    let bare = [&bare[..], &["--symlink", "usr/lib64", "/lib64", "--symlink", "usr/lib", "/lib"]].concat();
    let bare = [&bare[..], &["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/usr/bin/true"]].concat();
    let raw = median(async || spawn_and_wait("bwrap", &bare)).await;
    let cold = async |cgroups| {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let sandbox = open(cgroups).await;
            run_true(&*sandbox).await;
            times.push(start.elapsed());
            sandbox.close().await;
        }
        middle(times)
    };
    let (cold_without, cold_with) = (cold(Cgroups::Never).await, cold(Cgroups::WhereWritable).await);
    let warm = median(async || run_true(&*warm).await).await;

    println!("{:<44} {:>8}", "true, median of 200", "ms");
    for (name, took) in [
        ("plain spawn", plain),
        ("raw bwrap, fewer mounts and no filter", raw),
        ("cold sandbox", cold_without),
        ("cold sandbox with control groups", cold_with),
        ("warm sandbox", warm),
    ] {
        println!("{name:<44} {:>8.2}", took.as_secs_f64() * 1000.0);
    }
    println!(
        "cold is {:.2} times raw, and {:.2} times raw and then a spawn",
        cold_without.as_secs_f64() / raw.as_secs_f64(),
        cold_without.as_secs_f64() / (raw + plain).as_secs_f64(),
    );
}

fn spawn_and_wait(program: &str, arguments: &[&str]) {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().expect("runs").success());
}

async fn median<Round: Future<Output = ()>>(mut round: impl FnMut() -> Round) -> Duration {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round().await;
        times.push(start.elapsed());
    }
    middle(times)
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
