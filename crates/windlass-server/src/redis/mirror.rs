//! The keys of tasks that are under way (seed 000 §19.3), as other programs change them: a flag that says otherwise than it was set is a wish,
//! and what lies in a list of injections is for the task's agent. A wish is judged by what the flag was set to, never by how the task
//! stands now: otherwise a flag that is not set anew yet would undo what somebody else has asked for since.

use redis::aio::MultiplexedConnection;
use redis::cmd;
use windlass_domain::coordinate::{Channel, Origin, Steering, Trigger, Triggered, UNNAMED_USER};
use windlass_domain::execution::AgentInjection;
use windlass_domain::{CallerName, Taint};
use windlass_engine::{Error, Means};

use super::door::{Broken, RedisParts};
use super::notice::DEAD_LETTER;
use super::scripts::{LET_GO, TAKE, run};

pub struct Mirror<'a> {
    parts: &'a RedisParts,
    /// The flags as they were set.
    flags: String,
}

/// A task, and what its flag was set to by which record.
struct Flagged {
    task: String,
    flag: String,
    position: String,
}

impl<'a> Mirror<'a> {
    pub fn new(parts: &'a RedisParts, flags: String) -> Self {
        Self { parts, flags }
    }

    /// A Redis that has forgotten which tasks there are is told.
    pub async fn set_up(&self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        for (task, flag) in self.parts.engine.flags_under_way(Channel::Redis).await? {
            let mut keep = cmd("HSETNX");
            keep.arg(&self.flags).arg(&task).arg(format!("{flag}@0"));
            if keep.query_async::<bool>(connection).await? {
                let mut set = cmd("SET");
                set.arg(format!("task:status:{task}")).arg(flag).arg("NX");
                set.query_async::<redis::Value>(connection).await?;
            }
        }
        Ok(())
    }

    pub async fn look(&mut self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        let under_way = self.under_way(connection).await?;
        if under_way.is_empty() {
            return Ok(());
        }
        let mut asked = redis::pipe();
        for Flagged { task, .. } in &under_way {
            asked.cmd("GET").arg(format!("task:status:{task}"));
            asked.cmd("EXISTS").arg(list_key(task)).arg(taking_key(task));
        }
        let found: Vec<(Option<String>, u64)> = pairs(asked.query_async(connection).await?);
        for (known, (flag, waiting)) in under_way.iter().zip(found) {
            if let Some(flag) = flag.filter(|flag| *flag != known.flag) {
                self.heed_flag(known, &flag).await?;
            }
            if waiting > 0 {
                self.take_all(connection, &known.task).await?;
            }
        }
        Ok(())
    }

    async fn under_way(&self, connection: &mut MultiplexedConnection) -> Result<Vec<Flagged>, Broken> {
        let set: Vec<(String, String)> = cmd("HGETALL").arg(&self.flags).query_async(connection).await?;
        let known = set.into_iter().filter_map(|(task, set)| {
            let (flag, position) = set.split_once('@')?;
            Some(Flagged { task, flag: flag.to_owned(), position: position.to_owned() })
        });
        Ok(known.collect())
    }

    async fn heed_flag(&self, known: &Flagged, flag: &str) -> Result<(), Broken> {
        let steering = match flag {
            "paused" => Steering::Pause,
            "running" => Steering::Resume,
            "cancelled" => Steering::Cancel,
            _ => return Ok(()),
        };
        let Ok(task_id) = known.task.parse::<CallerName>() else { return Ok(()) };
        let reason = "its flag was set so".to_owned();
        // As long as the flag is not set anew it is one wish, however often it is seen.
        let id = format!("flag:{}:{flag}:{}", known.position, known.task);
        self.trigger(&id, Triggered::TaskControl { task_id, steering, reason }).await
    }

    async fn take_all(&self, connection: &mut MultiplexedConnection, task: &str) -> Result<(), Broken> {
        loop {
            let name = format!("{:032x}", self.parts.runtime.random());
            let taken = run(connection, TAKE, &[&list_key(task), &taking_key(task)], &[&name]).await?;
            let taken: Option<String> = redis::from_redis_value(taken).map_err(redis::RedisError::from)?;
            let Some(taken) = taken else { return Ok(()) };
            let (name, item) = taken.split_once(' ').unwrap_or((&taken, ""));
            if let Err(why) = self.inject(task, name, item).await? {
                let dead = serde_json::json!({"list": list_key(task), "reason": why, "json": item}).to_string();
                let mut keep = cmd("XADD");
                keep.arg(DEAD_LETTER).arg("MAXLEN").arg("~").arg(self.parts.most_kept).arg("*").arg("json").arg(dead);
                keep.query_async::<()>(connection).await?;
            }
            run(connection, LET_GO, &[&taking_key(task)], &[&taken]).await?;
        }
    }

    async fn inject(&self, task: &str, name: &str, item: &str) -> Result<Result<(), String>, Broken> {
        let Ok(task_id) = task.parse::<CallerName>() else { return Ok(Ok(())) };
        let injection: AgentInjection = match serde_json::from_str(item) {
            Ok(injection) => injection,
            Err(error) => return Ok(Err(format!("it is no injection: {error}"))),
        };
        match self.trigger(&format!("injection:{name}"), Triggered::Injected { task_id, injection }).await {
            Err(Broken::Engine(error)) if !error.may_pass() => Ok(Err(error.to_string())),
            done => done.map(Ok),
        }
    }

    async fn trigger(&self, id: &str, what: Triggered) -> Result<(), Broken> {
        let is_flag = matches!(what, Triggered::TaskControl { .. });
        let Ok(trigger_id) = id.chars().take(128).collect::<String>().parse() else { return Ok(()) };
        let origin = Origin { by: UNNAMED_USER.to_owned(), channel: Channel::Redis, taint: Taint::Auth };
        let trigger = Trigger { trigger_id, origin, session_id: None, what };
        match self.parts.engine.trigger(&trigger, Means::default()).await {
            // Whoever wanted it stopped has what they wanted.
            Err(Error::Over(_) | Error::NoSuchTask(_)) if is_flag => Ok(()),
            heeded => Ok(heeded.map(drop)?),
        }
    }
}

fn pairs(values: Vec<redis::Value>) -> Vec<(Option<String>, u64)> {
    let pair = |pair: &[redis::Value]| {
        let flag = redis::from_redis_value(pair[0].clone()).unwrap_or_default();
        let waiting = redis::from_redis_value(pair[1].clone()).unwrap_or_default();
        (flag, waiting)
    };
    values.chunks_exact(2).map(pair).collect()
}

fn list_key(task: &str) -> String {
    format!("injection:{task}")
}

/// The one that is being taken.
fn taking_key(task: &str) -> String {
    format!("injection:{task}:taking")
}
