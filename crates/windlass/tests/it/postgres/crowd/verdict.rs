//! The verdict: every task has ended once and as it should, everything that happened in its folder happened as often as its journal
//! says, and nothing is left of those who worked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::errand::{EFFECTS, Errand, Kind};
use super::people::{Ended, Town};
use crate::crash::calls_amiss;
use crate::postgres::store::on;
use crate::support::{Home, Story};

const CANCELLED: &str = "CANCELLED";

/// Of one task.
pub fn complaints(home: &Home, town: &Town<'_>, errand: &Errand, ended: Ended) -> Vec<String> {
    let told = on(town.url, home.windlass(&["log", &errand.task, "--json"])).run().expect(0);
    let story = Story::new(told.objects());
    let ended = match ended {
        Ended::Either if story.result.as_ref().is_some_and(|result| result["status"] == CANCELLED) => Ended::Cancelled,
        Ended::Either => Ended::Completed,
        known => known,
    };
    let mut found = calls_amiss(&story);
    if ended == Ended::Cancelled {
        // A cancel may come before a call's turn does: one that was never begun has no result then.
        let (asked, begun) = (story.asked(), story.times("tool.started"));
        let never_begun = asked.iter().filter(|(call, _)| !begun.contains_key(*call));
        let excused: Vec<String> = never_begun.map(|(_, asked)| format!("0 results for the call {asked}")).collect();
        found.retain(|what| !excused.contains(what));
    }
    found.extend(end(&story, errand, ended));
    found.extend(effects(&story, &errand.folder, ended));
    if errand.kind == Kind::Planned {
        for (file, text) in [("one.txt", "one\n"), ("two.txt", "two\n")] {
            let there = fs::read_to_string(errand.folder.join(file)).unwrap_or_default();
            if there != text {
                found.push(format!("{file} is {there:?}"));
            }
        }
    }
    found
        .iter()
        .map(|what| format!("{:?} {} in {}: {what}", errand.kind, errand.task, errand.folder.display()))
        .collect()
}

fn end(story: &Story, errand: &Errand, ended: Ended) -> Vec<String> {
    let mut found = Vec::new();
    let result = story.result.clone().unwrap_or_default();
    let wanted = match ended {
        Ended::Cancelled => CANCELLED,
        Ended::Completed | Ended::Either => "COMPLETED",
    };
    if result["status"] != wanted {
        found.push(format!("it ended {result}, expected {wanted}"));
    }
    if errand.kind == Kind::Planned && ended == Ended::Completed && result["verified"] != true {
        found.push("it is not verified".to_owned());
    }
    // A question is asked again only because a death lost the answer; a cancel may come before the answer does.
    let (asked, answered) = (story.of("model.requested").count(), story.of("model.responded").count());
    let excused = story.of("attempt.interrupted").count() + usize::from(ended == Ended::Cancelled);
    if answered > asked || asked - answered > excused {
        found.push(format!("{asked} questions to the model, {answered} answers, {excused} excuses"));
    }
    found
}

/// A call that succeeded did its line once; one of which nobody knows, at most once; any other, and whatever nobody asked for, never.
fn effects(story: &Story, folder: &Path, ended: Ended) -> Vec<String> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let there = fs::read_to_string(folder.join(EFFECTS)).unwrap_or_default();
    there.lines().for_each(|line| *lines.entry(line.to_owned()).or_default() += 1);
    let mut found = Vec::new();
    for (call, asked) in story.asked() {
        let command = asked["arguments"]["command"].as_str().unwrap_or_default();
        let Some(effect) = command.split(' ').find(|word| word.starts_with("effect-")) else { continue };
        let finished = story
            .of("tool.finished")
            .find(|record| record["execution_id"] == call.0.as_str() && record["data"]["call_id"] == call.1.as_str());
        let status = finished.and_then(|record| record["data"]["status"].as_str()).unwrap_or("unknown");
        let times = lines.remove(effect).unwrap_or_default();
        let is_right = match status {
            "ok" => times == 1,
            "interrupted" | "cancelled" => times <= 1,
            "unknown" => times == 0 && ended == Ended::Cancelled,
            _ => times == 0,
        };
        if !is_right {
            found.push(format!("{effect} happened {times} times, and the journal says {status}"));
        }
    }
    found.extend(
        lines.into_iter().map(|(line, times)| format!("{line} happened {times} times, and nobody asked for it")),
    );
    found
}

/// Of the whole database.
pub fn left_over(town: &Town<'_>) -> Vec<String> {
    let ended =
        "SELECT s.name || ' ended ' || count(*) FILTER (WHERE e.kind = 'task.finished') || ' times' FROM events e
                 JOIN streams s ON s.key = e.stream WHERE s.name LIKE 'task/%' GROUP BY s.name
                 HAVING count(*) FILTER (WHERE e.kind = 'task.finished') <> 1";
    // Whoever is killed between a task's end and its last word keeps a lease that nobody will ever ask for.
    let leases = "SELECT 'the lease ' || l.name || ' is still held' FROM leases l JOIN owners o ON o.id = l.owner
                  WHERE o.retired OR NOT EXISTS (SELECT FROM events e JOIN streams s ON s.key = e.stream
                                                 WHERE s.name = l.name AND e.kind = 'task.finished')";
    let messages = "SELECT 'a message is left in ' || queue || ': ' || coalesce(dead_reason, data) FROM messages";
    let found = [ended, leases, messages].map(|sql| town.rows(sql));
    found.iter().flat_map(|rows| rows.lines()).map(str::to_owned).collect()
}

/// In a machine's data directory.
pub fn worktrees_left(home: &Home) -> Vec<String> {
    let Ok(folders) = fs::read_dir(home.data().join("worktrees")) else { return Vec::new() };
    folders.flatten().map(|entry| format!("left in worktrees: {}", entry.path().display())).collect()
}
