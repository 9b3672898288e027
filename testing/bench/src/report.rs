//! From measurements to the page: which number stands beside which, and whether an aim was met.

use crate::aims::{self, Aim};
use crate::figures::{figure, list, median, millis, times};
use crate::machine::Machine;
use crate::measure::{agents, commits, floor, sandboxes, start, steps};
use crate::peers::Peers;
use crate::script::{AGENT_STEPS, STEPS, Tool};
use crate::table::{Row, Section, Verdict, render};

/// A step at the 2,000th may cost this much more than at the 20th, beyond what sending more bytes costs the floor, and
/// still be called flat: below it two runs of the same program differ as much.
const FLAT: f64 = 1.25;

#[derive(Default)]
pub struct Findings {
    pub steps: Vec<Growth>,
    pub agents: Option<Beside>,
    pub start: Option<start::Starts>,
    pub sandboxes: Option<sandboxes::Figures>,
    pub commits: Option<commits::Figures>,
}

/// Runs of the same length, and the floor's in between.
pub struct Growth {
    pub tool: Tool,
    pub count: usize,
    pub windlass: Vec<steps::Steps>,
    pub floor: Vec<floor::Figures>,
}

pub struct Beside {
    pub count: usize,
    pub windlass: agents::Figures,
    pub floor: floor::Figures,
    pub sandboxed: (usize, agents::Figures),
    pub unsandboxed: agents::Figures,
}

pub fn text(machine: &Machine, findings: &Findings, peers: &Peers, real_time: bool) -> String {
    let sections: Vec<Section> = [
        step_section(findings),
        storage_section(findings),
        findings.agents.as_ref().map(agent_section),
        findings.start.as_ref().map(start_section),
        findings.sandboxes.as_ref().map(sandbox_section),
        findings.commits.as_ref().map(commit_section),
        peer_section(findings, peers),
    ]
    .into_iter()
    .flatten()
    .collect();
    let priority = match real_time {
        true => " What was measured had real-time priority (`chrt -r 5`), because the machine was busy.",
        false => "",
    };
    format!(
        "# Benchmarks\n\n`make bench` prints this page; `make bench-write` also keeps it here. Compare ratios taken in one run, \
         never times of two machines.\n\n{}.{priority}\n\n{}",
        machine.describe(),
        render(&sections).trim_end()
    ) + "\n"
}

fn row(work: impl Into<String>, windlass: String, beside: String, aim: &'static Aim, verdict: Verdict) -> Row {
    Row { work: work.into(), windlass, beside, aim, verdict }
}

impl Growth {
    fn cost(&self) -> steps::Cost {
        steps::middle(self.windlass.iter().map(steps::Steps::per_step))
    }

    fn floor_cost(&self) -> steps::Cost {
        let per_step = |figures: &floor::Figures| {
            let marks = figures.marks();
            steps::between(&marks, 0, marks.len() - 1)
        };
        steps::middle(self.floor.iter().map(per_step))
    }

    fn marginal(&self, at: usize) -> f64 {
        steps::middle(self.windlass.iter().map(|run| run.marginal(at))).cpu
    }

    fn floor_marginal(&self, at: usize) -> f64 {
        steps::middle(self.floor.iter().map(|figures| steps::marginal(&figures.marks(), at))).cpu
    }

    fn whole_cpu(&self) -> f64 {
        median(self.windlass.iter().map(|run| millis(run.whole.cpu)).collect()) / self.count as f64
    }
}

fn of(findings: &Findings, tool: Tool) -> Vec<&Growth> {
    findings.steps.iter().filter(|growth| growth.tool == tool).collect()
}

fn counts(growths: &[&Growth]) -> String {
    growths.iter().map(|growth| figure_of_steps(growth.count)).collect::<Vec<_>>().join(" / ")
}

fn figure_of_steps(count: usize) -> String {
    figure(count as f64).split('.').next().unwrap_or_default().to_owned()
}

fn step_section(findings: &Findings) -> Option<Section> {
    let (read, bash) = (of(findings, Tool::Read), of(findings, Tool::Bash));
    let longest = *read.last()?;
    let ratios: Vec<f64> = read.iter().map(|growth| growth.cost().cpu / growth.floor_cost().cpu).collect();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let floor = |pick: fn(steps::Cost) -> f64| list(read.iter().map(|growth| pick(growth.floor_cost())));
    let ours =
        |growths: &[&Growth], pick: fn(steps::Cost) -> f64| list(growths.iter().map(|growth| pick(growth.cost())));
    let reached: Vec<usize> = STEPS.into_iter().filter(|at| *at <= longest.count).collect();
    let marginal: Vec<f64> = reached.iter().map(|at| longest.marginal(*at)).collect();
    let floor_marginal: Vec<f64> = reached.iter().map(|at| longest.floor_marginal(*at)).collect();
    let steps = counts(&read);
    let mut rows = vec![
        row(
            format!("CPU ms per step with `read`, at {steps} steps"),
            ours(&read, |cost| cost.cpu),
            format!(
                "floor {}: {}",
                floor(|cost| cost.cpu),
                ratios.iter().map(|r| times(*r)).collect::<Vec<_>>().join(" / ")
            ),
            &aims::STEP_CPU,
            Verdict::of(worst <= 3.0),
        ),
        row(
            format!(
                "the next step's CPU ms, after {} steps",
                reached.iter().map(|at| figure_of_steps(*at)).collect::<Vec<_>>().join(" / ")
            ),
            list(marginal.iter().copied()),
            format!("floor {}", list(floor_marginal.iter().copied())),
            &aims::STEP_GROWTH,
            flatness(&marginal, &floor_marginal),
        ),
        row(
            format!("wall ms per step with `read`, at {steps} steps"),
            ours(&read, |cost| cost.wall),
            format!("floor {}", floor(|cost| cost.wall)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        row(
            format!("CPU ms of the whole process per step, at {steps} steps"),
            list(read.iter().map(|growth| growth.whole_cpu())),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    if !bash.is_empty() {
        let cost = list(bash.iter().map(|growth| growth.cost().cpu));
        let wall = list(bash.iter().map(|growth| growth.cost().wall));
        rows.push(row(
            format!("CPU ms per step with `bash`, at {} steps", counts(&bash)),
            cost,
            format!("wall {wall}"),
            &aims::STEP_BASH,
            Verdict::NotJudged,
        ));
    }
    let notes = vec![
        "A step is one model call and one tool call with two synced commits, from one question's commit to the next, in \
         `windlass run --json` against the rehearsal server in a process of its own. CPU is user and system time of the \
         `windlass` process; what runs inside the sandbox is not in it. The floor is a bare loop: it sends the same history \
         over HTTP, and makes one SQLite insert with one sync per step."
            .to_owned(),
    ];
    Some(Section { title: "Steps", rows, notes })
}

/// Sending a longer history costs everybody; what is left must not grow.
fn flatness(marginal: &[f64], floor: &[f64]) -> Verdict {
    let (Some(first), Some(last)) = (marginal.first(), marginal.last()) else { return Verdict::NotJudged };
    let for_the_bytes = (floor.last().unwrap_or(&0.0) - floor.first().unwrap_or(&0.0)).max(0.0);
    Verdict::of(last - for_the_bytes <= first * FLAT)
}

fn storage_section(findings: &Findings) -> Option<Section> {
    let mut rows = Vec::new();
    for (tool, what) in [(Tool::Read, "a note of 40 bytes"), (Tool::Page, "a page of 2 KB")] {
        let growths: Vec<&Growth> = of(findings, tool).into_iter().filter(|growth| growth.count >= 100).collect();
        let (Some(shortest), Some(longest)) = (growths.first(), growths.last()) else { continue };
        if shortest.count == longest.count {
            continue;
        }
        let stored = |growth: &Growth| growth.windlass[0].stored.truth() as f64;
        let said = |growth: &Growth| growth.windlass[0].said_bytes as f64;
        let traced = |growth: &Growth| growth.windlass[0].stored.traces as f64 / growth.count as f64;
        let more = (longest.count - shortest.count) as f64;
        let per_step = (stored(longest) - stored(shortest)) / more;
        let said_per_step = (said(longest) - said(shortest)) / more;
        let floor = shortest.floor.first().map(|_| (longest, shortest));
        let floor = floor.map(|(longest, shortest)| {
            (longest.floor[0].stored_bytes as f64 - shortest.floor[0].stored_bytes as f64) / more
        });
        let floor = floor.map_or_else(String::new, |floor| format!("; floor {}", figure(floor)));
        let (from, to) = (figure_of_steps(shortest.count), figure_of_steps(longest.count));
        rows.push(row(
            format!("bytes stored per step, from step {from} to {to}, each reading {what}"),
            figure(per_step),
            format!("said {}: {}{floor}", figure(said_per_step), times(per_step / said_per_step)),
            &aims::STORED,
            Verdict::of(per_step <= 4.0 * said_per_step),
        ));
        rows.push(row(
            format!("bytes stored per step in all, at {from} / {to} steps"),
            list([shortest, longest].map(|growth| stored(growth) / growth.count as f64)),
            format!("the trace beside it {}", list([shortest, longest].map(|growth| traced(growth)))),
            &aims::NONE,
            Verdict::NotJudged,
        ));
    }
    let notes = vec![
        "Stored is the database with its log, and the blobs, after the program has ended; said is what the messages of a step \
         take in a request to the model. In all includes the empty database and the prompt. The trace is a file that repeats \
         the journal for other programs."
            .to_owned(),
    ];
    (!rows.is_empty()).then_some(Section { title: "Storage", rows, notes })
}

fn agent_section(beside: &Beside) -> Section {
    let Beside { count, windlass, floor, sandboxed: (few, sandboxed), unsandboxed } = beside;
    let memory = windlass.kb_per_agent(*count);
    let floor_memory = floor.peak_kb.saturating_sub(floor.base_kb) as f64 / *count as f64;
    let compared = |ours: f64, floors: f64| format!("floor {}: {}", figure(floors), times(ours / floors));
    let rows = vec![
        row(
            "wall s",
            figure(windlass.wall_s),
            compared(windlass.wall_s, floor.wall_s),
            &aims::AGENTS_WALL,
            Verdict::of(windlass.wall_s <= 3.5),
        ),
        row(
            "CPU s",
            figure(windlass.cpu_s),
            compared(windlass.cpu_s, floor.cpu_s),
            &aims::AGENTS_CPU,
            Verdict::of(windlass.cpu_s <= 4.0),
        ),
        row(
            "KB per agent",
            figure(memory),
            compared(memory, floor_memory),
            &aims::AGENTS_MEMORY,
            Verdict::of(memory <= 64.0),
        ),
        row(
            "peak memory, MB",
            figure(windlass.peak_kb as f64 / 1024.0),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        row(
            format!("{few} agents, a real sandbox each: wall s / CPU s"),
            list([sandboxed.wall_s, sandboxed.cpu_s]),
            format!("without {}", list([unsandboxed.wall_s, unsandboxed.cpu_s])),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    let notes = vec![format!(
        "{} runs of {AGENT_STEPS} steps at once in one process, 200 ms for every model answer (ideal wall 2.2 s), every step \
         durable: the engine as a library, a store on disk, an HTTP connection each, the tool `read`. No sandbox is opened in \
         these runs, since nothing in them uses one; the last row says what opening one for each adds. Memory per agent is \
         the peak less what the process held after one run.",
        figure_of_steps(*count)
    )];
    Section { title: "Many agents at once", rows, notes }
}

fn start_section(starts: &start::Starts) -> Section {
    let start::Starts { first, later } = starts;
    let rows = vec![
        row(
            "start to first request, wall ms",
            figure(later.wall_ms),
            format!("CPU {}", figure(later.cpu_ms)),
            &aims::START_TIME,
            Verdict::of(later.wall_ms <= 25.0),
        ),
        row(
            "the same, making the data directory",
            figure(first.wall_ms),
            format!("CPU {}", figure(first.cpu_ms)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        row(
            "memory by then, MB",
            figure(later.peak_mb),
            String::new(),
            &aims::START_MEMORY,
            Verdict::of(later.peak_mb <= 30.0),
        ),
    ];
    Section { title: "Start", rows, notes: Vec::new() }
}

fn sandbox_section(sandboxes: &sandboxes::Figures) -> Section {
    let sandboxes::Figures { plain, bubblewrap, cold, cold_result, cold_without_groups, warm, warm_bash, plain_bash } =
        sandboxes;
    let rows = vec![
        row(
            "one `true`, cold: open, run, close; ms",
            figure(*cold),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold / bubblewrap)),
            &aims::COLD,
            Verdict::of(*cold <= 1.3 * bubblewrap),
        ),
        row(
            "the same, up to its result; ms",
            figure(*cold_result),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold_result / bubblewrap)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        row(
            "the same as the first, without control groups; ms",
            figure(*cold_without_groups),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold_without_groups / bubblewrap)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        row(
            "one `true`, warm; ms",
            figure(*warm),
            format!("plain spawn {}: {}", figure(*plain), times(warm / plain)),
            &aims::WARM,
            Verdict::of(*warm <= 2.0),
        ),
        row(
            "one `bash -c true`, warm; ms",
            figure(*warm_bash),
            format!("plain spawn {}: {}", figure(*plain_bash), times(warm_bash / plain_bash)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    Section { title: "Sandboxed commands", rows, notes: Vec::new() }
}

fn commit_section(commits: &commits::Figures) -> Section {
    let rates: Vec<f64> = commits.rounds.iter().map(|round| round.per_s).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    let writers = commits::WRITERS.map(|writers| writers.to_string()).join(" / ");
    let syncs = commits.syncs_per_s;
    let rows = vec![
        row(
            format!("commits per s, {writers} writers"),
            list(rates.iter().copied()),
            format!(
                "fdatasync {}/s: {}",
                figure(syncs),
                rates.iter().map(|rate| times(rate / syncs)).collect::<Vec<_>>().join(" / ")
            ),
            &aims::COMMITS,
            Verdict::of(best >= 10_000.0),
        ),
        row(
            "CPU µs per commit",
            list(commits.rounds.iter().map(|round| round.cpu_micros)),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    Section { title: "Commits", rows, notes: Vec::new() }
}

fn peer_section(findings: &Findings, peers: &Peers) -> Option<Section> {
    let ours = |count: usize| {
        of(findings, Tool::Read).into_iter().find(|growth| growth.count == count).map(|growth| growth.cost().cpu)
    };
    let compared = |theirs: f64, ours: Option<f64>| match ours {
        Some(ours) => format!("{} ({})", figure(theirs), times(theirs / ours)),
        None => figure(theirs),
    };
    let mut rows = Vec::new();
    for peer in peers.each() {
        let said = [
            peer.cpu_ms_20.map(|theirs| format!("20 steps: {} CPU ms per step", compared(theirs, ours(20)))),
            peer.cpu_ms_100.map(|theirs| format!("100 steps: {}", compared(theirs, ours(100)))),
            peer.cpu_ms_at_400.map(|theirs| {
                let longest = of(findings, Tool::Read).into_iter().rfind(|growth| growth.count >= 400);
                format!("at step 400: {}", compared(theirs, longest.map(|growth| growth.marginal(400))))
            }),
            peer.start_ms.map(|theirs| {
                format!("start {} ms", compared(theirs, findings.start.as_ref().map(|starts| starts.later.wall_ms)))
            }),
            peer.together.map(|(agents, wall, cpu, memory)| {
                let per_agent =
                    findings.agents.as_ref().map(|beside| beside.windlass.cpu_s / beside.count as f64 * agents as f64);
                format!(
                    "{agents} agents: wall {} s, CPU {} s, {} KB each",
                    figure(wall),
                    compared(cpu, per_agent),
                    figure(memory)
                )
            }),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        rows.push(row(peer.name, said.join("; "), String::new(), &aims::NONE, Verdict::NotJudged));
    }
    let notes = vec!["In brackets: how many times what Windlass needed in this very run, durable.".to_owned()];
    (!rows.is_empty()).then_some(Section { title: "The peers, measured in the same run", rows, notes })
}
