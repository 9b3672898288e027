//! Many agents in one process.

use super::Beside;
use crate::aims;
use crate::figures::{count as figure_of, figure, list, times};
use crate::script::AGENT_STEPS;
use crate::table::{Row, Section, Verdict};

pub fn section(beside: &Beside) -> Section {
    let Beside { count, windlass, floor, sandboxed: (few, sandboxed), unsandboxed } = beside;
    let memory = windlass.kb_per_agent(*count);
    let floor_memory = floor.peak_kb.saturating_sub(floor.base_kb) as f64 / *count as f64;
    let compared = |ours: f64, floors: f64| format!("floor {}: {}", figure(floors), times(ours / floors));
    let rows = vec![
        Row::new(
            "wall s",
            figure(windlass.wall_s),
            compared(windlass.wall_s, floor.wall_s),
            &aims::AGENTS_WALL,
            Verdict::of(windlass.wall_s <= 3.5),
        ),
        Row::new(
            "CPU s",
            figure(windlass.cpu_s),
            compared(windlass.cpu_s, floor.cpu_s),
            &aims::AGENTS_CPU,
            Verdict::of(windlass.cpu_s <= 4.0),
        ),
        Row::new(
            "KB per agent",
            figure(memory),
            compared(memory, floor_memory),
            &aims::AGENTS_MEMORY,
            Verdict::of(memory <= 64.0),
        ),
        Row::new(
            "peak memory, MB",
            figure(windlass.peak_kb as f64 / 1024.0),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
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
        figure_of(*count)
    )];
    Section { title: "Many agents at once", rows, notes }
}
