//! What a proxy is told: what was said before, which tasks there are, and what the user says now.

use std::collections::BTreeSet;

use windlass_domain::TaskId;
use windlass_domain::session::{News, Said, SessionState};

use crate::Error;
use crate::engine::Engine;
use crate::filled::filled;

const TURN: &str = include_str!("../../../../prompts/turn/message.md");
/// Of one thing that was said, so much is told again.
const MOST_CHARS: usize = 2_000;
/// Not what it asks: those are words of an agent, and whoever hears them controls nothing.
const ASKS: &str = "  it has asked the user a question, and waits for the answer";
/// The newest.
const MOST_TASKS: usize = 20;

impl Engine {
    pub(super) async fn told(&self, session: &SessionState, words: &str) -> Result<String, Error> {
        let asking = self.asking().await?;
        let mut tasks = Vec::new();
        for task in session.tasks.iter().rev().take(MOST_TASKS) {
            let state = self.task(*task).await?;
            let goal = state.created.as_ref().map(|created| created.command.goal.lines().next().unwrap_or_default());
            let status = serde_json::to_string(&state.status).unwrap_or_default();
            tasks.push(format!("- {task} {} {}", status.trim_matches('"'), goal.unwrap_or_default()));
            if let (false, Some(news)) = (state.is_over(), session.news.get(task)) {
                tasks.push(format!("  newest: {}", news.status));
            }
            if asking.contains(task) {
                tasks.push(ASKS.to_owned());
            }
            // Of the newest only: who hears it has read what came from outside, and controls nothing in this turn.
            if let (true, Some((newest, News { trouble: Some(why), .. }))) = (state.is_over(), session.newest_trouble())
                && newest == *task
            {
                let why: String = why.chars().take(MOST_CHARS).collect();
                tasks.push(format!("  what went wrong last: {}", why.replace('\n', "\n  ")));
            }
        }
        let said: Vec<String> = session.said.iter().map(told_again).collect();
        let or_none = |lines: Vec<String>| if lines.is_empty() { "none".to_owned() } else { lines.join("\n") };
        let (said, tasks) = (or_none(said), or_none(tasks));
        Ok(filled(TURN, &[("said", &said), ("tasks", &tasks), ("words", words)]))
    }

    /// The tasks that wait for an answer of the user's, or for whom somebody does.
    async fn asking(&self) -> Result<BTreeSet<TaskId>, Error> {
        let mut asking = BTreeSet::new();
        for open in self.questions().await? {
            let created = self.task(open.asked.task_id).await?.created;
            let part_of = created.and_then(|created| created.part_of);
            asking.insert(part_of.map_or(open.asked.task_id, |of| of.root));
        }
        Ok(asking)
    }
}

fn told_again(said: &Said) -> String {
    let (who, words) = match said {
        Said::User(words) => ("user", words),
        Said::Proxy(words) => ("you", words),
    };
    format!("{who}: {}", words.chars().take(MOST_CHARS).collect::<String>())
}
