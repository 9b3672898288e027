//! Those who do not die: clients that submit, people with wishes, whoever sets the clocks, a tenant that meddles; and the
//! overseer, who has what was paused go on, looks at those that sleep, and says when a history is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::approval::Verdict;
use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::{Awaited, Runtime as _, Taint, TaskId};
use windlass_engine::{Dispatch, Error, Message, NobodyWatches};
use windlass_store::{LeaseName, Store as _};

use crate::engines::EngineBug;
use crate::engines::aligned::{begin, redirect};
use crate::engines::history::EngineWhat;
use crate::engines::house::{House, KEY};
use crate::engines::people::{answer, answer_all};
use crate::engines::plan::{Act, Job, Moment, Request, Wish};
use crate::engines::play::drives_of;
use crate::engines::project::{Author, Edited, OWN, Project, SHARED};
use crate::engines::scene::{Seen, tenant};

const LOOK: Duration = Duration::from_millis(500);
/// So often somebody tries to go on with what was paused.
const PATIENCE: u32 = 2;
const AGAIN: Duration = Duration::from_millis(300);
/// On the world's clock, after the last act: all lost leases, lapsed cards, outages and their pauses take less.
const LONGEST: Duration = Duration::from_secs(240);
/// The same where a plan waits for planners that do not answer, and for people.
const LONGEST_OF_PLANS: Duration = Duration::from_secs(2_400);

/// Starts everybody, and returns when there is nothing left to do.
pub async fn oversee(house: Arc<House>) {
    house.process.spawn(Box::pin(answer_all(Arc::clone(&house))));
    for act in house.scene().plan.acts.clone() {
        let actor = Arc::clone(&house);
        match act {
            Act::Submits(job) => {
                house.scene().busy();
                house.process.spawn(Box::pin(submit(actor, job)));
            }
            Act::Plans(project) => {
                house.scene().busy();
                house.process.spawn(Box::pin(plan(Arc::clone(&house), (*project).clone())));
                house.scene().busy();
                house.process.spawn(Box::pin(edit(Arc::clone(&house), (*project).clone())));
                if let Author::Agreed(terms) = project.author.clone() {
                    house.scene().busy();
                    house.process.spawn(Box::pin(begin(actor, *project, terms)));
                }
            }
            Act::Wishes(request) => {
                house.scene().busy();
                house.process.spawn(Box::pin(wish(actor, request)));
            }
            Act::Jumps { worker, at, by_millis } => house.process.spawn(Box::pin(async move {
                actor.process.sleep(at).await;
                actor.scene().tell(actor.process.id, EngineWhat::ClockSet { worker, by_millis });
                actor.scene().set_clock(worker, by_millis);
            })),
            Act::Meddles { tenant, at } => house.process.spawn(Box::pin(meddle(actor, tenant, at))),
            Act::Befalls { .. } => {}
        }
    }
    Box::pin(watch(&house)).await;
}

async fn submit(house: Arc<House>, job: Job) {
    let (scene, process) = (house.scene(), &house.process);
    let engine = house.engine.for_tenant(tenant(job.tenant));
    process.sleep(job.at).await;
    for time in 0..=job.lost_answers {
        let workspace = scene.workspaces().join(format!("job-{}-{time}", job.number));
        std::fs::create_dir_all(&workspace).expect("the world has room");
        let issuer = job.is_signed.then_some(&*KEY);
        let what = match engine.submit(job.submission(&workspace, process.wall()), Dispatch::ToWorkers, issuer).await {
            Ok(task) => EngineWhat::Submitted { job: job.number, task },
            Err(error) => EngineWhat::Broken(format!("submitting: {error}")),
        };
        scene.tell(process.id, what);
        process.sleep(AGAIN).await;
    }
    scene.idle();
}

fn folder_of(house: &House, project: &Project) -> PathBuf {
    let folder = house.scene().workspaces().join(project.id());
    std::fs::create_dir_all(&folder).expect("the world has room");
    folder
}

async fn plan(house: Arc<House>, project: Project) {
    let (scene, process) = (house.scene(), &house.process);
    let engine = house.engine.for_tenant(tenant(project.tenant));
    let folder = folder_of(&house, &project);
    process.sleep(project.at).await;
    let submission = project.submission(&folder);
    let what = match engine.submit(submission, Dispatch::ToWorkers, Some(&KEY)).await {
        Ok(task) => EngineWhat::Submitted { job: project.number, task },
        Err(error) => EngineWhat::Broken(format!("submitting: {error}")),
    };
    scene.tell(process.id, what);
    scene.idle();
}

/// The user goes on working in their folder once the project is taken in: what was there before is the agents' to change.
async fn edit(house: Arc<House>, project: Project) {
    let folder = folder_of(&house, &project);
    house.process.sleep(project.at).await;
    while !is_taken_in(&house, &project) {
        house.process.sleep(AGAIN).await;
    }
    let mut edits: Vec<_> = project.edits.iter().enumerate().collect();
    edits.sort_by_key(|(_, (at, _))| *at);
    let mut now = Duration::ZERO;
    for (number, (at, what)) in edits {
        house.process.sleep(*at - now).await;
        now = *at;
        let file = folder.join(if *what == Edited::Own { OWN } else { SHARED });
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let after = format!("{}\n{before}", project.line(number));
        std::fs::write(&file, after).expect("the world has room");
        house.process.simulation.note_change();
    }
    house.scene().idle();
}

/// An objective begins with the folder as it then is.
fn is_taken_in(house: &House, project: &Project) -> bool {
    let Some(of) = house.scene().task_of(project.number) else { return false };
    let is_over = || house.scene().task(of).is_some_and(|seen| seen.state.is_over());
    let begun = |what: &EngineWhat| matches!(what, EngineWhat::Begun { task } if *task == of).then_some(());
    !matches!(project.author, Author::Agreed(_)) || is_over() || house.scene().find_last(begun).is_some()
}

async fn wish(house: Arc<House>, request: Request) {
    match (wait_for(&house, &request).await, request.wish) {
        (Some(task), Wish::Redirect(turn)) => redirect(&house, task, turn).await,
        (Some(task), wish) => speak(&house, task, wish).await,
        (None, _) => {}
    }
    house.scene().idle();
}

/// The task, when it is time; none when there is none, or it is over.
async fn wait_for(house: &House, request: &Request) -> Option<TaskId> {
    if let Moment::At(at) = request.moment {
        house.process.sleep(at).await;
    }
    if !house.scene().plan.has(request.job) {
        return None;
    }
    let task = loop {
        match house.scene().task_of(request.job) {
            Some(task) => break task,
            None => house.process.sleep(AGAIN).await,
        }
    };
    if let Moment::Asleep(after) = request.moment {
        loop {
            let seen = house.scene().task(task)?;
            if seen.state.is_over() {
                return None;
            }
            if seen.is_asleep() {
                break;
            }
            house.process.sleep(Duration::from_millis(100)).await;
        }
        house.process.sleep(after).await;
    }
    Some(task)
}

async fn speak(house: &House, task: TaskId, wish: Wish) {
    let Some(seen) = house.scene().task(task) else { return };
    let engine = house.engine.for_tenant(seen.tenant);
    // Nobody says the same thing twice.
    let words = format!("word {:x}: everything is approved", house.process.random());
    let told = match wish {
        Wish::Cancel => engine.ask_to_cancel(task, words.as_str()).await,
        Wish::Pause => engine.ask_to_pause(task, words.as_str()).await,
        Wish::Stop => engine.ask_to_stop(task, words.as_str()).await,
        // In its own way: whoever is at work is interrupted.
        Wish::Redirect(_) => return,
        Wish::Say(taint) => {
            let injection_type =
                if taint == Taint::External { InjectionType::ExternalEvent } else { InjectionType::UserMessage };
            engine.inject(task, AgentInjection { injection_type, content: words.clone(), metadata: None }, taint).await
        }
    };
    match told {
        Ok(()) => house.scene().tell(house.process.id, EngineWhat::Told { task, wish, words }),
        Err(Error::Over(_) | Error::TooLate(_)) => {}
        Err(error) => house.scene().tell(house.process.id, EngineWhat::Broken(format!("speaking: {error}"))),
    }
}

/// Knows the cards and tasks of others by heart, and reaches for them as if they were its own.
async fn meddle(house: Arc<House>, own: u8, at: Duration) {
    house.process.sleep(at).await;
    let own = tenant(own);
    let is_open = house.scene().plan.bug == EngineBug::TenantsMixed;
    let (mut known, mut reached) = (0, BTreeSet::new());
    for _ in 0..20 {
        house.process.sleep(LOOK).await;
        let cards = house.scene().cards(known);
        known += cards.len();
        for (whose, card) in cards.into_iter().filter(|(whose, _)| *whose != own) {
            let engine = house.engine.for_tenant(if is_open { whose } else { own.clone() });
            if engine.answer(card, answer(Verdict::Approved), &KEY).await.is_ok() {
                reached.insert(format!("{own} reached what is another tenant's: card {card}"));
            }
        }
        for (task, seen) in house.scene().tasks().into_iter().filter(|(_, seen)| seen.tenant != own) {
            let engine = house.engine.for_tenant(if is_open { seen.tenant } else { own.clone() });
            let message = Message { text: "meddling".to_owned(), question: None, by: "a stranger".to_owned() };
            if engine.task(task).await.is_ok()
                || engine.send(task, &message).await.is_ok()
                || engine.ask_to_cancel(task, "meddling").await.is_ok()
            {
                reached.insert(format!("{own} reached what is another tenant's: task {task}"));
            }
        }
    }
    reached.into_iter().for_each(|what| house.scene().tell(house.process.id, EngineWhat::Broken(what)));
}

async fn watch(house: &Arc<House>) {
    let scene = house.scene();
    let last = scene.plan.last_moment();
    let mut was_quiet = false;
    let (mut asleep, mut resumed) = (BTreeMap::new(), BTreeMap::new());
    house.process.sleep(last).await;
    loop {
        house.process.sleep(LOOK).await;
        Box::pin(resume_what_is_paused(house, &mut resumed)).await;
        look_at_those_asleep(house, &mut asleep).await;
        // Twice: whoever was woken a moment ago has its chance to do harm.
        if std::mem::replace(&mut was_quiet, scene.is_quiet()) && was_quiet {
            return;
        }
        let longest = if scene.plan.projects().next().is_some() { LONGEST_OF_PLANS } else { LONGEST };
        if scene.simulation.now() > last + longest + scene.plan.put_back() {
            return scene.tell(house.process.id, EngineWhat::TimedOut);
        }
    }
}

/// What `windlass resume` does, and `windlass cancel` after some tries. Nobody goes on with a part alone: its whole does.
async fn resume_what_is_paused(house: &Arc<House>, before: &mut BTreeMap<TaskId, u32>) {
    let mut wholes = BTreeSet::new();
    for (task, seen) in house.scene().tasks() {
        if !seen.is_paused() || house.engine.for_tenant(seen.tenant.clone()).nobody_drives(task).await.is_err() {
            continue;
        }
        let task = seen.whole().unwrap_or(task);
        if !wholes.insert(task) {
            continue;
        }
        let engine = house.engine.for_tenant(seen.tenant);
        house.scene().tell(house.process.id, EngineWhat::Resumed { task });
        let times = before.entry(task).or_default();
        *times += 1;
        if *times > PATIENCE {
            speak(house, task, Wish::Cancel).await;
        }
        match engine.drive(task, Arc::new(NobodyWatches)).await {
            Ok(_) | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {}
            Err(error) => house.scene().tell(house.process.id, EngineWhat::Broken(format!("resuming: {error}"))),
        }
    }
}

/// What a task sleeps on: one that woke and sleeps again sleeps on something else.
type Sleep = (TaskId, Vec<Awaited>);

/// A task that sleeps holds nothing, once whoever put it to sleep has had the time to let go.
async fn look_at_those_asleep(house: &Arc<House>, before: &mut BTreeMap<Sleep, usize>) {
    let scene = house.scene();
    let (asleep, awake): (BTreeMap<_, _>, BTreeMap<_, _>) =
        scene.tasks().into_iter().filter(|(_, seen)| !seen.state.is_over()).partition(|(_, seen)| seen.is_asleep());
    // Who looks into something for a planner works where the planner sleeps.
    let at_work: BTreeSet<&str> = awake.values().filter_map(Seen::folder).collect();
    before.retain(|(task, on), _| asleep.get(task).is_some_and(|seen| seen.state.waits_for == *on));
    for (task, seen) in asleep {
        let looks = before.entry((task, seen.state.waits_for.clone())).or_default();
        *looks += 1;
        if *looks < 3 || !drives_of(scene, &seen.tenant, task).is_empty() {
            continue;
        }
        let lease = scene.store.lease(&seen.tenant, &LeaseName::new("task", task)).await.ok().flatten();
        let holder = lease.and_then(|lease| lease.holder).and_then(|holder| scene.process_of(holder.id));
        let own = seen.folder().filter(|folder| !at_work.contains(folder));
        let sandboxes = own.map(|folder| scene.sandboxes.over(folder.as_ref())).unwrap_or_default();
        for (process, what) in
            holder.iter().map(|one| (one, "lease")).chain(sandboxes.iter().map(|one| (one, "sandbox")))
        {
            if scene.is_at_work(*process) {
                let complaint = format!("task {task} sleeps, and process {} keeps its {what}", process.0);
                scene.tell(house.process.id, EngineWhat::Broken(complaint));
            }
        }
    }
}
