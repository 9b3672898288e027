//! Which tasks' keys others have changed since somebody looked: what Redis tells whoever watches keys. It is a hint; a look at all of them
//! now and then finds what it left out. However much is changed, little of it is remembered.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::{PushInfo, PushKind, Value};
use tokio::sync::Notify;

const FLAG: &str = "task:status:";
const LIST: &str = "injection:";
/// Of an injection that is being taken.
const TAKING: &str = ":taking";
pub const PREFIXES: [&str; 2] = [FLAG, LIST];
/// With more of them one look at all is cheaper.
const MOST: usize = 1_000;

#[derive(Default)]
pub struct Touched {
    tasks: Mutex<Tasks>,
    bell: Notify,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    pub these: BTreeSet<String>,
    /// Any may have been.
    pub all: bool,
}

impl Touched {
    pub fn hear(&self, push: &PushInfo) {
        match (&push.kind, push.data.first()) {
            (PushKind::Invalidate, Some(Value::Array(keys))) => {
                keys.iter().filter_map(text).for_each(|key| self.key(key));
            }
            // Everything was deleted.
            (PushKind::Invalidate, _) => self.lock().all = true,
            // Whoever asks it for something hears that it is gone.
            (PushKind::Disconnection, _) => {}
            _ => return,
        }
        self.bell.notify_one();
    }

    fn key(&self, key: &str) {
        if let Some(task) = key.strip_prefix(FLAG) {
            self.task(task);
        } else if let Some(task) = key.strip_prefix(LIST) {
            self.task(task);
            // Or a task is called so.
            task.strip_suffix(TAKING).into_iter().for_each(|task| self.task(task));
        }
    }

    pub fn task(&self, task: &str) {
        let mut tasks = self.lock();
        if tasks.these.len() >= MOST {
            tasks.all = true;
        }
        if !tasks.all {
            tasks.these.insert(task.to_owned());
        }
    }

    pub fn take(&self) -> Tasks {
        std::mem::take(&mut *self.lock())
    }

    /// Until something was.
    pub async fn rings(&self) {
        self.bell.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(key: &Value) -> Option<&str> {
    match key {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(touched: &Touched, keys: &[String]) -> Tasks {
        let keys = keys.iter().map(|key| Value::BulkString(key.clone().into_bytes())).collect();
        touched.hear(&PushInfo { kind: PushKind::Invalidate, data: vec![Value::Array(keys)] });
        touched.take()
    }

    #[test]
    fn a_key_says_whose_it_is_and_too_many_are_everybody_s() {
        let touched = Touched::default();
        let keys = ["task:status:a", "injection:b", "injection:c:taking", "other"].map(str::to_owned);
        let these = ["a", "b", "c", "c:taking"].map(str::to_owned);
        assert_eq!(told(&touched, &keys), Tasks { these: these.into(), all: false });
        let many: Vec<_> = (0..=MOST).map(|number| format!("injection:{number}")).collect();
        let tasks = told(&touched, &many);
        assert!(tasks.all && tasks.these.len() <= MOST);
        touched.hear(&PushInfo { kind: PushKind::Invalidate, data: vec![Value::Nil] });
        assert!(touched.take().all);
    }
}
