//! The keys of tasks that are under way (seed 000 §19.3), as other programs change them: a flag that says otherwise than it was set is a wish,
//! and what lies in a list of injections is for the task's agent. A wish is judged by what the flag was set to, never by how the task
//! stands now: otherwise a flag that is not set anew yet would undo what somebody else has asked for since.
//!
//! Redis tells which keys were changed (`touched`), at once, so that an injection reaches its agent before the next question to the model, and
//! ten thousand tasks of which nobody changes anything cost nothing. Notifications of keyspace events would need another configuration of the
//! server, and taking items as they come (`BLPOP`) would lose them in a crash; tracking needs neither. As with any hint, all keys are also
//! looked at now and then, by a script that answers with the few where there is something to do, in pages so that it holds up nobody else.
//!
//! A task has a flag here from when its caller is told of it until it is over, and others may push something for it before, after, and where
//! it is of another door's session. A list without a flag waits for its task where there is none yet; otherwise the engine says whether it is
//! heard, and what is not lies with the dead letters.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use windlass_domain::coordinate::{Channel, Origin, Steering, Trigger, Triggered, UNNAMED_USER};
use windlass_domain::execution::AgentInjection;
use windlass_domain::{CallerName, Instant, Taint, millis};
use windlass_engine::{Error, Means};

use super::complaints::{Complaints, Wrong};
use super::delivered::{Body, LARGEST, shown};
use super::door::{Broken, KEPT_FOR, RedisParts};
use super::notice::DEAD_LETTER;
use super::outbox::Keys;
use super::scripts::{LOOK, REFUSE, SET_UP, TAKE, TAKEN, run};
use super::touched::Touched;

/// Where Redis tells what was changed, and where it does not.
const SWEEP_SELDOM: Duration = Duration::from_secs(3);
const SWEEP_OFTEN: Duration = Duration::from_millis(300);
/// A page takes Redis about a millisecond.
const PAGE: usize = 500;
/// Of one task, before the others have their turn.
const MOST_TAKEN: usize = 64;
/// How often it is begun to look for lists of tasks without a flag, which nobody told of, and how many keys, of whatever kind, between two
/// looks at what was changed.
const LISTS_EVERY: Duration = Duration::from_secs(60);
const LISTS_AT_A_TIME: usize = 2_000;

pub struct Mirror<'a> {
    parts: &'a RedisParts,
    flags: String,
    positions: String,
    touched: Arc<Touched>,
    complaints: &'a Complaints,
    sweep_every: Duration,
    swept_at: Option<Instant>,
    lists: Lists,
    /// What is complained of since the last sweep began.
    complained: BTreeSet<String>,
}

/// How far all lists were looked for.
enum Lists {
    From(String),
    SeenAt(Instant),
}

/// A task with something to do: what its flag was set to by which record, and what it is by now.
struct Found {
    task: String,
    /// Nothing: it has none.
    set: String,
    flag: String,
    has_list: bool,
    /// What its flag is where it is no text.
    wrong: String,
}

/// What became of the next injection of a list.
enum Taken {
    Heard,
    None,
    /// It stays where it is.
    Stays(String),
    Wrong(Wrong),
}

impl<'a> Mirror<'a> {
    pub fn new(
        parts: &'a RedisParts,
        keys: &Keys,
        touched: Arc<Touched>,
        is_watching: bool,
        complaints: &'a Complaints,
    ) -> Self {
        let sweep_every = if is_watching { SWEEP_SELDOM } else { SWEEP_OFTEN };
        let (flags, positions) = (keys.flags.clone(), keys.positions.clone());
        let (swept_at, lists, complained) = (None, Lists::beginning(), BTreeSet::new());
        Self { parts, flags, positions, touched, complaints, sweep_every, swept_at, lists, complained }
    }

    /// A Redis that has forgotten which tasks there are is told.
    pub async fn set_up(&self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        let known = self.parts.engine.flags_under_way(Channel::Redis).await?;
        for page in known.chunks(PAGE) {
            let name = format!("{:032x}", self.parts.runtime.random());
            let flags = page.iter().flat_map(|(task, flag)| [task.as_str(), *flag]);
            let words: Vec<&str> = std::iter::once(name.as_str()).chain(flags).collect();
            run::<()>(connection, SET_UP, &[&self.flags], &words).await?;
        }
        Ok(())
    }

    pub async fn look(&mut self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        let (touched, now) = (self.touched.take(), self.parts.runtime.now());
        if touched.all {
            self.lists = Lists::beginning();
        }
        if touched.all || self.swept_at.is_none_or(|at| now - at >= self.sweep_every) {
            self.swept_at = Some(now);
            self.sweep(connection).await?;
        }
        // Of tasks without a flag the sweep knows nothing.
        self.look_at_these(&touched.these, connection).await?;
        self.look_for_lists(now, connection).await
    }

    async fn look_at_these(
        &mut self,
        tasks: &BTreeSet<String>,
        connection: &mut MultiplexedConnection,
    ) -> Result<(), Broken> {
        let these: Vec<&str> = tasks.iter().map(String::as_str).collect();
        for page in these.chunks(PAGE) {
            let words: Vec<&str> = ["", ""].into_iter().chain(page.iter().copied()).collect();
            self.look_at(&words, connection).await?;
        }
        Ok(())
    }

    /// What was pushed while nobody listened, for whom no flag tells. Redis shows no key by its kind without going past all others, hence a
    /// few at a time.
    async fn look_for_lists(&mut self, now: Instant, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        let cursor = match &self.lists {
            Lists::From(cursor) => cursor.clone(),
            Lists::SeenAt(at) if now - *at < LISTS_EVERY => return Ok(()),
            Lists::SeenAt(_) => BEGINNING.to_owned(),
        };
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg("injection:*").arg("COUNT").arg(LISTS_AT_A_TIME);
        let (next, keys): (String, Vec<Vec<u8>>) = scan.query_async(connection).await?;
        let tasks: BTreeSet<String> = keys.iter().filter_map(|key| task_of(std::str::from_utf8(key).ok()?)).collect();
        self.look_at_these(&tasks, connection).await?;
        self.lists = if next == BEGINNING { Lists::SeenAt(now) } else { Lists::From(next) };
        Ok(())
    }

    async fn sweep(&mut self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        self.complained.clear();
        let (mut cursor, count) = (BEGINNING.to_owned(), PAGE.to_string());
        loop {
            cursor = self.look_at(&[&cursor, &count], connection).await?;
            if cursor == BEGINNING {
                let is_key = |about: &str| about.contains(':');
                self.complaints.mended(|about| is_key(about) && !self.complained.contains(about));
                return Ok(());
            }
        }
    }

    /// Answers where to go on.
    async fn look_at(&mut self, words: &[&str], connection: &mut MultiplexedConnection) -> Result<String, Broken> {
        let (cursor, is_remembered, found) =
            run::<Answer>(connection, LOOK, &[&self.flags, &self.positions], words).await?;
        if !is_remembered {
            return Err(Broken::Forgotten);
        }
        for (task, set, flag, lists, wrong) in found {
            let flag = String::from_utf8_lossy(&flag).into_owned();
            let found = Found { task, set, flag, has_list: lists > 0, wrong };
            self.heed(&found, connection).await?;
        }
        Ok(cursor)
    }

    async fn heed(&mut self, found: &Found, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        let key = format!("task:status:{}", found.task);
        if !found.wrong.is_empty() {
            let (kind, waits) = (found.wrong.clone(), "its task is steered by streams alone");
            self.complain(&key, Wrong { key: key.clone(), kind, wanted: "text", waits }.told());
        }
        if !found.flag.is_empty()
            && let Err(why) = self.heed_flag(found).await?
        {
            self.complain(&key, format!("Redis: `{key}` was set to {}: {why}", found.flag));
        }
        match found.has_list && (!found.set.is_empty() || self.is_known(&found.task).await?) {
            true => self.take_all(&found.task, connection).await,
            false => Ok(()),
        }
    }

    /// What is pushed before its task is ordered waits for it.
    async fn is_known(&self, task: &str) -> Result<bool, Error> {
        match task.parse::<CallerName>() {
            Ok(task) => self.parts.engine.has_task(&task).await,
            // No task is called so.
            Err(_) => Ok(false),
        }
    }

    fn complain(&mut self, about: &str, what: String) {
        self.complaints.say(about, what);
        self.complained.insert(about.to_owned());
    }

    /// Why it cannot be.
    async fn heed_flag(&self, found: &Found) -> Result<Result<(), String>, Broken> {
        let Found { task, set, flag, .. } = found;
        let steering = match flag.as_str() {
            "paused" => Steering::Pause,
            "running" => Steering::Resume,
            "cancelled" => Steering::Cancel,
            _ => return Ok(Err("say running, paused or cancelled".to_owned())),
        };
        let Ok(task_id) = task.parse::<CallerName>() else { return Ok(Ok(())) };
        let position = set.rsplit_once('@').map_or("", |(_, position)| position);
        let reason = "its flag was set so".to_owned();
        // As long as the flag is not set anew it is one wish, however often it is seen.
        let id = format!("flag:{position}:{flag}:{task}");
        match self.trigger(&id, Triggered::TaskControl { task_id, steering, reason }).await {
            // Whoever wanted it stopped has what they wanted.
            Ok(()) | Err(Error::Over(_) | Error::NoSuchTask(_)) => Ok(Ok(())),
            Err(error) if error.is_outage() => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    async fn take_all(&mut self, task: &str, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        for _ in 0..MOST_TAKEN {
            match self.take(task, connection).await? {
                Taken::Heard => {}
                Taken::None => return Ok(()),
                Taken::Stays(why) => {
                    let key = list_key(task);
                    self.complain(&key, format!("Redis: what was pushed to `{key}` waits: {why}; tried again"));
                    return Ok(());
                }
                Taken::Wrong(wrong) => {
                    self.complain(&wrong.key, wrong.told());
                    return Ok(());
                }
            }
        }
        self.touched.task(task);
        Ok(())
    }

    async fn take(&self, task: &str, connection: &mut MultiplexedConnection) -> Result<Taken, Broken> {
        let (name, most) = (format!("{:032x}", self.parts.runtime.random()), LARGEST.to_string());
        let keys = [list_key(task), taking_key(task)];
        let taken: TakeAnswer = run(connection, TAKE, &[&keys[0], &keys[1]], &[&name, &most]).await?;
        let (taken, length) = match taken {
            (what, Some(taken), Some(length)) if what == "taken" => (taken, text(&length)),
            (what, Some(key), Some(kind)) if what == "wrong" => {
                let (key, kind, waits) = (text(&key), text(&kind), "its task hears nothing by it");
                return Ok(Taken::Wrong(Wrong { key, kind, wanted: "list of injections", waits }));
            }
            _ => return Ok(Taken::None),
        };
        let at = taken.iter().position(|byte| *byte == b' ').unwrap_or(taken.len());
        let (name, item) = (text(&taken[..at]), taken.get(at + 1..).unwrap_or_default());
        let body = match length.as_str() {
            "0" => Body::of_json(item),
            length => Body::Unreadable {
                reason: format!("it has {length} bytes, and {LARGEST} are the most that are read"),
                shown: text(item),
            },
        };
        let (reason, json) = match body {
            Body::Json(json) => match self.inject(task, &name, &json).await {
                Ok(()) => (None, json),
                Err(Refusal::Later(why)) => return Ok(Taken::Stays(why)),
                Err(Refusal::Outage(error)) => return Err(error.into()),
                Err(Refusal::Never(why)) => (Some(why), json),
            },
            Body::Unreadable { reason, shown } => (Some(reason), shown),
            Body::Deleted => (None, String::new()),
        };
        if let Some(reason) = reason {
            let dead = serde_json::json!({"list": keys[0], "reason": reason, "json": shown(&json)}).to_string();
            let most = self.parts.most_kept.to_string();
            let kept = millis(KEPT_FOR).to_string();
            let arguments = ["", "", &most, &kept, &dead];
            let told: Vec<String> = run(connection, REFUSE, &[&keys[0], DEAD_LETTER], &arguments).await?;
            if let [key, kind] = told.as_slice() {
                let (key, kind, waits) = (key.clone(), kind.clone(), "what is refused waits");
                return Ok(Taken::Wrong(Wrong { key, kind, wanted: "stream", waits }));
            }
        }
        run::<()>(connection, TAKEN, &[&keys[1]], &[&name]).await?;
        Ok(Taken::Heard)
    }

    async fn inject(&self, task: &str, name: &str, item: &str) -> Result<(), Refusal> {
        let Ok(task_id) = task.parse::<CallerName>() else { return Ok(()) };
        let injection: AgentInjection =
            serde_json::from_str(item).map_err(|error| Refusal::Never(format!("it is no injection: {error}")))?;
        let heard = self.trigger(&format!("injection:{name}"), Triggered::Injected { task_id, injection }).await;
        heard.map_err(|error| match error {
            error if error.is_outage() => Refusal::Outage(error),
            error if error.may_pass() => Refusal::Later(error.to_string()),
            error => Refusal::Never(error.to_string()),
        })
    }

    async fn trigger(&self, id: &str, what: Triggered) -> Result<(), Error> {
        let Ok(trigger_id) = id.chars().take(128).collect::<String>().parse() else { return Ok(()) };
        let origin = Origin { by: UNNAMED_USER.to_owned(), channel: Channel::Redis, taint: Taint::Auth };
        let trigger = Trigger { trigger_id, origin, session_id: None, what };
        self.parts.engine.trigger(&trigger, Means::default()).await.map(drop)
    }
}

/// Where going past all keys begins, and what Redis says at the end.
const BEGINNING: &str = "0";

impl Lists {
    fn beginning() -> Self {
        Self::From(BEGINNING.to_owned())
    }
}

/// Why an injection is not heard.
enum Refusal {
    Never(String),
    Later(String),
    Outage(Error),
}

/// Where to go on, whether Redis remembers, and per task what `Found` says.
type Answer = (String, bool, Vec<(String, String, Vec<u8>, u64, String)>);
type TakeAnswer = (String, Option<Vec<u8>>, Option<Vec<u8>>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn list_key(task: &str) -> String {
    format!("injection:{task}")
}

/// The one that is being taken.
fn taking_key(task: &str) -> String {
    format!("injection:{task}:taking")
}

/// Whose list it is, or whose is being taken.
fn task_of(key: &str) -> Option<String> {
    let task = key.strip_prefix("injection:")?;
    Some(task.strip_suffix(":taking").unwrap_or(task).to_owned())
}
