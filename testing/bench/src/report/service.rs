//! The service: what it holds and works with many tasks, how fast it takes new ones, how fast it tells what happens, and how soon an
//! agent hears what it is told.

use super::Findings;
use crate::aims::{self, Aim};
use crate::figures::{count, figure, list, times};
use crate::measure::creating::{self, CLIENTS, Load};
use crate::measure::fan_out::{self, LISTENERS};
use crate::measure::injecting;
use crate::measure::many_tasks::{self, ACTIVE, IDLE};
use crate::measure::workers;
use crate::table::{Row, Section, Verdict};

const TASKS: &str = "Memory and processor time are those of `windlass serve` alone. Idle tasks wait for a person. Those that are worked on \
    read a file after each answer of a model that takes 2 s, over HTTP, each step durable; they belong to 125 tenants, since a tenant has \
    eight at a time.";
const CREATING: &str = "A new task is signed, judged and on the disk when it is answered; nobody works on it meanwhile. Clients keep their \
    connections and wait for each answer.";
const FAN_OUT: &str = "Listeners have all of `/v1/events`. An event's time is taken before it is written, so that its way to the last \
    listener has its commit in it; the listeners are one thread of one process on the same machine, whose work is in the way, too. The processor time holds the creation of the tasks that are told of. The bare loop \
    writes as many bytes to as many sockets, blocking, with nothing else to do.";
const INJECTING: &str = "Beyond the model's own time: 30 ms for an answer, which are taken off for as long as the words waited for them. Untold is the \
    way from an answer to the next request when nobody says anything: a tool call and two commits. Words are crossed by a request that was \
    decided on before they came and reaches the model after them; they are late where a second one goes without them. A task that waits is in no memory: it is taken from its queue and folded anew.";

const WORKERS: &str = "Workers are processes of one machine, on a PostgreSQL of the benchmark's own whose files are on the same disk as SQLite's. They make steps of tasks whose \
    model answers at once, eight tasks each, until all are done; starting them is counted. All commits of a store take turns, and the processors are shared by workers, database and model: another worker makes no more steps that are nothing but commits, and is for work that \
    takes its time elsewhere, in models, tools and checks, and for going on when one dies. \
    A worker that is killed has one task, whose model takes 50 ms; another stands by and has nothing to do. Its work is resumed when the other's request reaches the model. They are on one machine, where \
    a lock says at once that a process is gone; on another host of the same name it is known by its silence, after 9 s.";

pub fn section(findings: &Findings) -> Option<Section> {
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let mut add = |more: Option<Vec<Row>>, note: &str| {
        notes.extend(more.is_some().then(|| note.to_owned()));
        rows.extend(more.into_iter().flatten());
    };
    add(findings.many_tasks.as_ref().map(many_tasks_rows), TASKS);
    add(findings.creating.as_ref().map(creating_rows), CREATING);
    add(findings.fan_out.as_ref().map(fan_out_rows), FAN_OUT);
    add(findings.injecting.as_ref().map(injecting_rows), INJECTING);
    add(findings.workers.as_ref().map(workers_rows), WORKERS);
    (!rows.is_empty()).then_some(Section { title: "The service", rows, notes })
}

fn judged(work: String, windlass: String, beside: String, aim: &'static Aim, met: bool) -> Row {
    Row::new(work, windlass, beside, aim, Verdict::of(met))
}

fn plain(work: String, windlass: String, beside: String) -> Row {
    Row::new(work, windlass, beside, &aims::NONE, Verdict::NotJudged)
}

fn many_tasks_rows(figures: &many_tasks::Figures) -> Vec<Row> {
    let many_tasks::Figures { empty, idle, active, answers_per_s, ideal_per_s, begun_s } = figures;
    let (idle_count, active_count) = (count(IDLE), count(ACTIVE));
    let active_kb = (active.mb - idle.mb) * 1024.0 / ACTIVE as f64;
    let worked = active.cpu_ms_per_s - idle.cpu_ms_per_s;
    vec![
        judged(
            format!("CPU ms per s with {idle_count} idle tasks"),
            figure(idle.cpu_ms_per_s),
            format!("with none {}", figure(empty.cpu_ms_per_s)),
            &aims::IDLE_CPU,
            idle.cpu_ms_per_s <= 10.0,
        ),
        judged(
            format!("MB with {idle_count} idle tasks"),
            figure(idle.mb),
            format!("with none {}: {}", figure(empty.mb), times(idle.mb / empty.mb)),
            &aims::IDLE_MEMORY,
            idle.mb <= 1.5 * empty.mb,
        ),
        judged(
            format!("steps per s of {active_count} tasks at work beside them"),
            figure(*answers_per_s),
            format!("the model's own pace {}: {}", figure(*ideal_per_s), times(answers_per_s / ideal_per_s)),
            &aims::ACTIVE_PACE,
            *answers_per_s >= 0.9 * ideal_per_s,
        ),
        plain(
            "CPU ms per s meanwhile, and per step".to_owned(),
            format!("{}, {}", figure(active.cpu_ms_per_s), figure(worked / answers_per_s)),
            String::new(),
        ),
        judged(
            "KB for each task at work".to_owned(),
            figure(active_kb),
            format!("all {} MB", figure(active.mb)),
            &aims::ACTIVE_MEMORY,
            active_kb <= 128.0,
        ),
        plain(
            format!("s until all {active_count} were asked for, begun and had an answer"),
            figure(*begun_s),
            String::new(),
        ),
    ]
}

fn creating_rows(figures: &creating::Figures) -> Vec<Row> {
    let clients = CLIENTS.map(|clients| clients.to_string()).join(" / ");
    let created =
        |pick: fn(&Load) -> f64| figures.rounds.iter().map(move |round| pick(&round.creating)).collect::<Vec<_>>();
    let health =
        |pick: fn(&Load) -> f64| figures.rounds.iter().map(move |round| pick(&round.health)).collect::<Vec<_>>();
    let beside = |pick: fn(&Load) -> f64| {
        let ratios = created(pick).into_iter().zip(health(pick)).map(|(ours, theirs)| times(ours / theirs));
        format!("`/v1/health` {}: {}", list(health(pick)), ratios.collect::<Vec<_>>().join(" / "))
    };
    let rates = created(|load| load.per_s);
    let (most, slowest) =
        (rates.iter().copied().fold(0.0, f64::max), created(|load| load.took.p99).pop().unwrap_or_default());
    vec![
        judged(
            format!("tasks created per s, {clients} clients"),
            list(rates),
            format!("{}; fdatasync {}/s", beside(|load| load.per_s), figure(figures.syncs_per_s)),
            &aims::CREATING,
            most >= 1_000.0,
        ),
        judged(
            "ms to create one, p99".to_owned(),
            list(created(|load| load.took.p99)),
            beside(|load| load.took.p99),
            &aims::CREATING_P99,
            slowest <= 100.0,
        ),
        plain("the same, p50".to_owned(), list(created(|load| load.took.p50)), beside(|load| load.took.p50)),
        plain("CPU µs to create one".to_owned(), list(created(|load| load.cpu_micros)), beside(|load| load.cpu_micros)),
    ]
}

fn fan_out_rows(figures: &fan_out::Figures) -> Vec<Row> {
    let listeners = count(LISTENERS);
    vec![
        plain(
            format!("events per s to {listeners} listeners, all together"),
            figure(figures.per_s),
            format!("bare loop {}: {}", figure(figures.bare_per_s), times(figures.per_s / figures.bare_per_s)),
        ),
        judged(
            "CPU µs for an event to one of them".to_owned(),
            figure(figures.cpu_micros),
            format!(
                "bare loop {}: {}",
                figure(figures.bare_cpu_micros),
                times(figures.cpu_micros / figures.bare_cpu_micros)
            ),
            &aims::FAN_OUT_CPU,
            figures.cpu_micros <= 3.0 * figures.bare_cpu_micros,
        ),
        judged(
            "ms from writing an event to its last listener, p50 / p99".to_owned(),
            list([figures.to_last.p50, figures.to_last.p99]),
            String::new(),
            &aims::FAN_OUT_LAST,
            figures.to_last.p99 <= 100.0,
        ),
        plain("KB for a listener".to_owned(), figure(figures.kb_per_listener), String::new()),
    ]
}

fn injecting_rows(figures: &injecting::Figures) -> Vec<Row> {
    let injecting::Figures { told, untold, crossed, late, messages, woken } = figures;
    vec![
        judged(
            "ms from words to the model request with them, p50 / p99".to_owned(),
            list([told.p50, told.p99]),
            format!("untold {}: {}", list([untold.p50, untold.p99]), times(told.p50 / untold.p50)),
            &aims::INJECTING,
            told.p50 <= 2.0 * untold.p50,
        ),
        judged(
            format!("late, of {messages} messages"),
            count(*late),
            format!("crossed by a request on its way {}", count(*crossed)),
            &aims::INJECTING_LATE,
            *late == 0,
        ),
        plain(
            "ms from an answer to the model request of a task that waited, p50 / p99".to_owned(),
            list([woken.p50, woken.p99]),
            String::new(),
        ),
    ]
}

fn workers_rows(figures: &workers::Figures) -> Vec<Row> {
    let workers::Figures { sqlite_per_s, postgres_per_s, sqlite_resumed, postgres_resumed } = figures;
    let workers = workers::WORKERS.map(|workers| workers.to_string()).join(" / ");
    let alone = postgres_per_s.first().copied().unwrap_or_default();
    let with_two = postgres_per_s.get(1).copied().unwrap_or_default();
    let ratios = postgres_per_s.iter().map(|per_s| times(per_s / alone)).collect::<Vec<_>>().join(" / ");
    vec![
        judged(
            format!("steps per s on PostgreSQL, {workers} workers"),
            list(postgres_per_s.iter().copied()),
            format!("one: {ratios}; one on SQLite {}: {}", figure(*sqlite_per_s), times(alone / sqlite_per_s)),
            &aims::SCALING,
            with_two >= 1.5 * alone,
        ),
        plain(
            "ms from a worker's death to its work resumed, p50 / p99".to_owned(),
            list([postgres_resumed.p50, postgres_resumed.p99]),
            format!(
                "on SQLite {}: {}",
                list([sqlite_resumed.p50, sqlite_resumed.p99]),
                times(postgres_resumed.p50 / sqlite_resumed.p50)
            ),
        ),
    ]
}
