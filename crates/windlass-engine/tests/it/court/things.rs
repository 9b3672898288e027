//! What the processes of a court share besides the store: the script of the agent, the ledger of what was performed, the
//! sandboxes that are open, the operator's policy, the owner's keys.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use windlass_domain::execution::{Carrier, TaskMessage};
use windlass_domain::{
    BoxFuture, CancelSignal, Canceller, ContextService, Embedder, ErrorCode, ErrorDetails, Look, Prepared, Role,
    Runner, Stop, ToolCall, Usage, Usd, Workspace,
};
use windlass_engine::{Equipment, Keyring, Order};
use windlass_policy::approve::{OwnerKey, PublicKeys};
use windlass_sandbox::{Cancel, Command, Error, Exit, Output, Policy, Provider, Running, Sandbox};
use windlass_workspace::{SnapshotSetup, Snapshots};

use super::caller::{Ask, Caller, prepare};
use crate::support::{Meddler, Watched};

/// Memories, and what else is kept.
pub type Known = (Vec<String>, Vec<String>);
type ChangePolicy = Arc<dyn Fn(&mut Policy) + Send + Sync>;
type ChangePrepared = Arc<dyn Fn(&mut Prepared) + Send + Sync>;

#[derive(Default)]
pub struct Things {
    objects: PathBuf,
    /// One for each attempt; the last is played again.
    scripts: Mutex<Vec<Vec<Vec<Ask>>>>,
    /// The first, and what is said instead when that is handed back.
    last_words: Mutex<Vec<String>>,
    /// Of parts, by what their goal begins with.
    parts: Mutex<Vec<Played>>,
    judgement: Mutex<String>,
    ledger: Mutex<Vec<String>>,
    open_sandboxes: Arc<AtomicI64>,
    policy: Mutex<Option<ChangePolicy>>,
    claims: Mutex<Option<ChangePrepared>>,
    held: Mutex<Option<CancelSignal>>,
    /// Of one tool alone.
    held_tool: Mutex<Option<&'static str>>,
    holding: Canceller,
    /// Goals of those whose model cannot be reached the next time.
    outages: Mutex<Vec<String>>,
    /// What every answer of the model uses and costs.
    price: Mutex<(Usage, Usd)>,
    stops: Mutex<Option<CancelSignal>>,
    performing: Canceller,
    greedy: AtomicBool,
    stubborn: AtomicBool,
    in_batches: AtomicBool,
    together: AtomicBool,
    /// Who the model has answered, once for each answer, by what they are and their goal.
    answers: Mutex<Vec<(Role, String)>>,
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    archive: Mutex<Option<Arc<dyn ContextService>>>,
    /// What agents were told that is known about their tasks, by their goal.
    known: Mutex<Vec<(String, Known)>>,
    /// What agents were told of the work of others, by their goal.
    bindings: Mutex<Vec<(String, Vec<String>)>>,
    /// What agents read of the work they are part of, by what their goal begins with; and what they were told.
    looks: Mutex<Vec<(String, Look)>>,
    looked: Mutex<Vec<Result<Value, String>>>,
    foreign: AtomicBool,
    /// Who comes between before the folder is worked on.
    meddler: Arc<Mutex<Option<Meddler>>>,
}

/// What one part does.
#[derive(Clone)]
struct Played {
    begins: String,
    ends: String,
    attempts: Vec<Vec<Vec<Ask>>>,
    last_word: String,
    /// Of one that goes on each time that it hears something: what it does then, and says at last.
    turns: Vec<(Vec<Vec<Ask>>, String)>,
}

impl Things {
    pub fn meddle(&self, meddler: Meddler) {
        *self.meddler.lock().unwrap() = Some(meddler);
    }

    pub fn leave_alone(&self) {
        *self.meddler.lock().unwrap() = None;
    }

    /// Whoever is given a goal that begins so does this, attempt by attempt, and says that at last.
    pub fn cast(&self, begins: &str, attempts: Vec<Vec<Vec<Ask>>>, last_word: &str) {
        let (begins, last_word) = (begins.to_owned(), last_word.to_owned());
        self.parts.lock().unwrap().push(Played { begins, ends: String::new(), attempts, last_word, turns: Vec::new() });
    }

    /// The proxy whose user says `words` makes these calls, and says that at last.
    pub fn cast_turn(&self, words: &str, steps: Vec<Vec<Ask>>, last_word: &str) {
        let (ends, last_word) = (format!("# The user says\n\n{words}"), last_word.to_owned());
        self.parts.lock().unwrap().push(Played {
            begins: String::new(),
            ends,
            attempts: vec![steps],
            last_word,
            turns: Vec::new(),
        });
    }

    /// Whoever is given a goal that begins so does this until it has nothing more to say, and the next each time it hears something.
    pub fn cast_turns(&self, begins: &str, turns: Vec<(Vec<Vec<Ask>>, &str)>) {
        let turns = turns.into_iter().map(|(steps, word)| (steps, word.to_owned())).collect();
        let (attempts, last_word) = (Vec::new(), String::new());
        self.parts.lock().unwrap().push(Played {
            begins: begins.to_owned(),
            ends: String::new(),
            attempts,
            last_word,
            turns,
        });
    }

    /// What it does and says once it has heard so many things, if it is one that goes on.
    pub(super) fn turn(&self, goal: &str, heard: usize) -> Option<(Vec<Vec<Ask>>, String)> {
        let turns = self.cast_as(goal)?.turns;
        let now = heard.min(turns.len().checked_sub(1)?);
        let steps = turns[..=now].iter().flat_map(|(steps, _)| steps.clone()).collect();
        Some((steps, turns[now].1.clone()))
    }

    fn cast_as(&self, goal: &str) -> Option<Played> {
        self.parts
            .lock()
            .unwrap()
            .iter()
            .find(|part| goal.starts_with(&part.begins) && goal.ends_with(&part.ends))
            .cloned()
    }

    pub fn new(objects: PathBuf, steps: Vec<Vec<Ask>>) -> Self {
        let last_words = Mutex::new(vec!["done".to_owned()]);
        Self { objects, scripts: Mutex::new(vec![steps]), last_words, ..Self::default() }
    }

    /// What every attempt does from now on.
    pub fn play(&self, steps: Vec<Vec<Ask>>) {
        *self.scripts.lock().unwrap() = vec![steps];
    }

    /// What the next attempt does.
    pub fn then(&self, steps: Vec<Vec<Ask>>) {
        self.scripts.lock().unwrap().push(steps);
    }

    pub fn say_at_last(&self, word: &str) {
        self.say_at_last_in_turn(&[word]);
    }

    /// Another each time that the last word is handed back; the last of them is said again.
    pub fn say_at_last_in_turn(&self, words: &[&str]) {
        *self.last_words.lock().unwrap() = words.iter().map(|word| (*word).to_owned()).collect();
    }

    /// What a model answers that a gate asks.
    pub fn judge(&self, words: &str) {
        words.clone_into(&mut self.judgement.lock().unwrap());
    }

    /// What every sandbox is allowed from now on.
    pub fn change_policy(&self, change: impl Fn(&mut Policy) + Send + Sync + 'static) {
        *self.policy.lock().unwrap() = Some(Arc::new(change));
    }

    /// From now on the agent says of a call what `change` makes of the truth.
    pub fn change_claims(&self, change: impl Fn(&mut Prepared) + Send + Sync + 'static) {
        *self.claims.lock().unwrap() = Some(Arc::new(change));
    }

    /// From now on whoever performs a call waits for the signal first.
    pub fn hold(&self, until: CancelSignal) {
        *self.held.lock().unwrap() = Some(until);
    }

    /// The same for calls of one tool.
    pub fn hold_tool(&self, tool: &'static str, until: CancelSignal) {
        *self.held_tool.lock().unwrap() = Some(tool);
        self.hold(until);
    }

    /// Raised when somebody waits there.
    pub fn holding(&self) -> CancelSignal {
        self.holding.signal()
    }

    /// The next time that whoever is given a goal that begins so is run, its model cannot be reached.
    pub fn cut_off(&self, begins: &str) {
        self.outages.lock().unwrap().push(begins.to_owned());
    }

    pub(super) fn is_cut_off(&self, goal: &str) -> bool {
        let mut outages = self.outages.lock().unwrap();
        let found = outages.iter().position(|begins| goal.starts_with(begins));
        found.map(|index| outages.remove(index)).is_some()
    }

    pub fn set_price(&self, usage: Usage, cost: Usd) {
        *self.price.lock().unwrap() = (usage, cost);
    }

    pub(super) fn price(&self) -> (Usage, Usd) {
        *self.price.lock().unwrap()
    }

    /// From now on an agent that may not go on says its last word, as if it had.
    pub fn be_stubborn(&self) {
        self.stubborn.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_stubborn(&self) -> bool {
        self.stubborn.load(Ordering::SeqCst)
    }

    /// What the model was paid for, whatever a journal says.
    pub fn answers(&self) -> Vec<(Role, String)> {
        self.answers.lock().unwrap().clone()
    }

    pub(super) fn answered(&self, role: Role, goal: &str) {
        self.answers.lock().unwrap().push((role, goal.to_owned()));
    }

    /// From now on the agent asks for every call twice at once.
    pub fn be_greedy(&self) {
        self.greedy.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_greedy(&self) -> bool {
        self.greedy.load(Ordering::SeqCst)
    }

    /// From now on the agent asks for all calls of a step at once, and goes on with whichever may run.
    pub fn ask_in_batches(&self) {
        self.in_batches.store(true, Ordering::SeqCst);
    }

    pub(super) fn asks_in_batches(&self) -> bool {
        self.in_batches.load(Ordering::SeqCst)
    }

    /// From now on those whom an agent spawns in one step work at the same time.
    pub fn spawn_together(&self) {
        self.together.store(true, Ordering::SeqCst);
    }

    pub(super) fn spawns_together(&self) -> bool {
        self.together.load(Ordering::SeqCst)
    }

    pub(super) fn tell(&self, goal: &str, bindings: &[String]) {
        self.bindings.lock().unwrap().push((goal.to_owned(), bindings.to_vec()));
    }

    /// What whoever was given a goal that begins so was told of the work of others, the last time.
    pub fn bindings(&self, begins: &str) -> Vec<String> {
        let told = self.bindings.lock().unwrap();
        told.iter().rev().find(|(goal, _)| goal.starts_with(begins)).map(|(_, told)| told.clone()).unwrap_or_default()
    }

    /// From now on agents are programs that keep their own conversations.
    pub fn be_foreign(&self) {
        self.foreign.store(true, Ordering::SeqCst);
    }

    /// Whoever is given a goal that begins so reads this before anything else.
    pub fn look(&self, begins: &str, look: Look) {
        self.looks.lock().unwrap().push((begins.to_owned(), look));
    }

    pub(super) fn looks(&self, goal: &str) -> Vec<Look> {
        let looks = self.looks.lock().unwrap();
        looks.iter().filter(|(begins, _)| goal.starts_with(begins)).map(|(_, look)| look.clone()).collect()
    }

    pub(super) fn found(&self, found: Result<Value, String>) {
        self.looked.lock().unwrap().push(found);
    }

    /// What they were told, in order.
    pub fn looked(&self) -> Vec<Result<Value, String>> {
        self.looked.lock().unwrap().clone()
    }

    /// From now on somebody says what is known about tasks.
    pub fn consult(&self, archive: Arc<dyn ContextService>) {
        *self.archive.lock().unwrap() = Some(archive);
    }

    pub fn hear_of(&self, task: &TaskMessage) {
        let known = (task.memories.clone(), task.kept.clone());
        self.known.lock().unwrap().push((task.goal.clone(), known));
    }

    /// What the last agent was told whose goal begins so.
    pub fn known(&self, goal: &str) -> Known {
        self.all_known(goal).pop().unwrap()
    }

    pub fn all_known(&self, goal: &str) -> Vec<Known> {
        let known = self.known.lock().unwrap();
        known.iter().filter(|(of, _)| of.starts_with(goal)).map(|(_, known)| known.clone()).collect()
    }

    /// From now on somebody knows what texts mean.
    pub fn employ(&self, embedder: Arc<dyn Embedder>) {
        *self.embedder.lock().unwrap() = Some(embedder);
    }

    pub fn let_go(&self) {
        *self.held.lock().unwrap() = None;
    }

    /// Raised when a call is about to be performed.
    pub fn begun_to_perform(&self) -> CancelSignal {
        self.performing.signal()
    }

    /// The word to stop, as the run that began last hears it.
    pub fn stop_signal(&self) -> CancelSignal {
        self.stops.lock().unwrap().clone().expect("a run has begun")
    }

    pub(super) fn begin(&self, stops: CancelSignal) {
        *self.stops.lock().unwrap() = Some(stops);
    }

    pub fn performed(&self) -> Vec<String> {
        self.ledger.lock().unwrap().clone()
    }

    pub fn open_sandboxes(&self) -> i64 {
        self.open_sandboxes.load(Ordering::SeqCst)
    }

    pub(super) fn steps(&self, goal: &str, failures: usize) -> Vec<Vec<Ask>> {
        let part = self.cast_as(goal).map(|part| part.attempts);
        let scripts = part.unwrap_or_else(|| self.scripts.lock().unwrap().clone());
        scripts.get(failures.min(scripts.len().saturating_sub(1))).cloned().unwrap_or_default()
    }

    pub(super) fn last_word(&self, goal: &str, handed_back: u32) -> String {
        if let Some(part) = self.cast_as(goal) {
            return part.last_word;
        }
        let words = self.last_words.lock().unwrap();
        words[(handed_back as usize).min(words.len() - 1)].clone()
    }

    pub(super) fn judgement(&self) -> String {
        self.judgement.lock().unwrap().clone()
    }

    pub(super) fn prepare(&self, call: &ToolCall, folder: &Path) -> Prepared {
        let mut prepared = prepare(call, folder);
        if let Some(change) = &*self.claims.lock().unwrap() {
            change(&mut prepared);
        }
        prepared
    }

    /// A line in the ledger, and the file where one is written; what a file holds where one is read.
    pub(super) async fn perform(&self, call: &ToolCall, folder: &Path) -> String {
        self.performing.stop(Stop::Pause);
        let held = self.held.lock().unwrap().clone();
        let is_held = self.held_tool.lock().unwrap().is_none_or(|tool| tool == call.tool);
        if let Some(until) = held.filter(|_| is_held) {
            self.holding.stop(Stop::Pause);
            until.wait().await;
        }
        self.ledger.lock().unwrap().push(format!("{} {}", call.tool, call.arguments.get()));
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap();
        let path = folder.join(arguments["path"].as_str().unwrap_or_default());
        if let Some(content) = arguments["content"].as_str() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
            return "written".to_owned();
        }
        std::fs::read_to_string(&path).unwrap_or_else(|_| "ran".to_owned())
    }
}

/// Equipment of one process.
pub struct Equipped(pub Arc<Things>);

impl Equipment for Equipped {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::new(Cells(Arc::clone(&self.0.open_sandboxes))))
    }

    fn policy(&self, folder: &Path) -> Policy {
        let mut policy = Policy::new(folder);
        if let Some(change) = &*self.0.policy.lock().unwrap() {
            change(&mut policy);
        }
        policy
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let setup = SnapshotSetup::new(folder, &self.0.objects, Vec::new());
        let opened = Snapshots::open(setup);
        let inner = opened.map_err(|error| ErrorDetails::new(ErrorCode::SandboxUnavailable, error.to_string()))?;
        Ok(Arc::new(Watched { inner, meddler: Arc::clone(&self.0.meddler) }))
    }

    fn carrier(&self, _: &str) -> Carrier {
        if self.0.foreign.load(Ordering::SeqCst) { Carrier::Foreign } else { Carrier::Native }
    }

    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.0.embedder.lock().unwrap().clone()
    }

    fn context_service(&self) -> Option<Arc<dyn ContextService>> {
        self.0.archive.lock().unwrap().clone()
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        Ok(Arc::new(Caller { things: Arc::clone(&self.0), folder: order.folder.to_owned() }))
    }
}

/// Counts the sandboxes that are open; nothing runs in them.
struct Cells(Arc<AtomicI64>);

impl Provider for Cells {
    fn open(&self, _: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Box::new(Cell(Arc::clone(&self.0))) as Box<dyn Sandbox>) })
    }
}

struct Cell(Arc<AtomicI64>);

impl Drop for Cell {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Sandbox for Cell {
    fn run<'a>(&'a self, _: Command, _: Output<'a>, _: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn start(&self, _: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn listen(&self) -> BoxFuture<'_, Result<std::net::TcpListener, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// The owner's keys, in memory.
#[derive(Default)]
pub struct Ring(Mutex<Vec<[u8; 32]>>);

impl Ring {
    pub fn add(&self, key: &OwnerKey) {
        self.0.lock().unwrap().push(key.public());
    }

    pub fn forget_all(&self) {
        self.0.lock().unwrap().clear();
    }
}

impl Keyring for Ring {
    fn public_keys(&self) -> Result<PublicKeys, String> {
        let mut keys = PublicKeys::default();
        for key in &*self.0.lock().unwrap() {
            keys.add(key).map_err(|bad| bad.to_string())?;
        }
        Ok(keys)
    }
}
