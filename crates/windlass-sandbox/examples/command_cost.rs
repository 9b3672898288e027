//! What a confined command costs, beside what it would cost unconfined: medians in milliseconds.
//!
//! `cargo run --release -p windlass-sandbox --example command_cost`. A benchmark, not a test; compare the rows of one
//! run with each other, never with another run's. Each round measures everything once, so that a busy moment falls on all.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "measures real programs by the real clock")]

use std::{
    future::Future,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use windlass_sandbox::{
    Bubblewrap, Cgroups, Command, Policy, Provider, Sandbox, Supervisor, discard, never, supervise,
};

const ROUNDS: usize = 100;
const SUPERVISE: &str = "supervise";
/// Every namespace, the whole system read-only.
const BARE: [&str; 11] = [
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
    "/usr/bin/true",
];

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
    let policy = || Policy::new(workspace.path());
    let with_groups = Bubblewrap::new(Supervisor::myself([SUPERVISE]));
    let without = Bubblewrap::new(Supervisor::myself([SUPERVISE])).cgroups(Cgroups::Never);
    let warm = with_groups.open(policy()).await.expect("opens");
    let mut rows: [(&str, Vec<Duration>); 6] = [
        ("plain spawn", Vec::new()),
        ("bare bwrap", Vec::new()),
        ("cold sandbox, to the result", Vec::new()),
        ("cold sandbox, to its end", Vec::new()),
        ("cold sandbox without control groups", Vec::new()),
        ("warm sandbox", Vec::new()),
    ];
    for _ in 0..ROUNDS {
        let (result, end) = cold(&with_groups, policy()).await;
        let (_, end_without) = cold(&without, policy()).await;
        let round = [
            timed(async { spawn_and_wait("/usr/bin/true", &[]) }).await,
            timed(async { spawn_and_wait("bwrap", &BARE) }).await,
            result,
            end,
            end_without,
            timed(run_true(&*warm)).await,
        ];
        rows.iter_mut().zip(round).for_each(|((_, times), took)| times.push(took));
    }
    warm.close().await;
    println!("{:<40} {:>8} {:>8} {:>12}", "true, ms", "median", "least", "x bare bwrap");
    let bare = median(&rows[1].1);
    for (name, times) in &rows {
        let (middle, least) = (median(times), times.iter().min().map_or(0.0, Duration::as_secs_f64) * 1000.0);
        println!("{name:<40} {middle:>8.2} {least:>8.2} {:>12.2}", middle / bare);
    }
}

async fn cold(provider: &Bubblewrap, policy: Policy) -> (Duration, Duration) {
    let start = Instant::now();
    let sandbox = provider.open(policy).await.expect("opens");
    run_true(&*sandbox).await;
    let result = start.elapsed();
    sandbox.close().await;
    (result, start.elapsed())
}

async fn run_true(sandbox: &dyn Sandbox) {
    let exit = sandbox.run(Command::new(["/usr/bin/true"]), &mut discard, never()).await;
    assert!(exit.expect("runs").success());
}

fn spawn_and_wait(program: &str, arguments: &[&str]) {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().expect("runs").success());
}

async fn timed(work: impl Future<Output = ()>) -> Duration {
    let start = Instant::now();
    work.await;
    start.elapsed()
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
