//! What happened, as a sentence: the words that the console has for the same record. One that nobody has words for is told by its name, and
//! nothing is left out: what is bookkeeping is only quiet. What somebody else said stands behind it, as their words.

use serde_json::Value;

use crate::show::{Line, Style, duration, headline};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Ours.
    pub says: String,
    /// Somebody else's.
    pub quote: String,
    pub tone: Style,
    pub is_quiet: bool,
}

impl Sentence {
    fn new(says: impl Into<String>) -> Self {
        Self { says: says.into(), quote: String::new(), tone: Style::Plain, is_quiet: false }
    }

    fn quoting(self, words: &str) -> Self {
        Self { quote: headline(words), ..self }
    }

    fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    fn toned(self, tone: Style) -> Self {
        Self { tone, ..self }
    }

    pub fn line(&self) -> Line {
        let line = Line::new().add(self.tone, &self.says);
        match self.quote.is_empty() {
            true => line,
            false => line.dim(" › ").giving_way(Style::Dim, &self.quote),
        }
    }
}

pub fn sentence(about: &str, kind: &str, data: &Value) -> Sentence {
    let told = match about {
        "approval" | "question" => of_asking(kind, data),
        "session" => of_talk(kind, data),
        "execution" => of_agent(kind, data),
        _ => of_work(kind, data),
    };
    told.unwrap_or_else(|| {
        let last = kind.rsplit('.').next().unwrap_or(kind);
        Sentence::new(format!("{}: {}", capital(&spaced(about)), spaced(last))).quiet()
    })
}

fn text<'a>(data: &'a Value, name: &str) -> &'a str {
    data[name].as_str().unwrap_or_default()
}

fn by(data: &Value) -> String {
    match text(data, "by") {
        "" => String::new(),
        who => format!(" by {who}"),
    }
}

fn spaced(word: &str) -> String {
    word.replace(['_', '-'], " ")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn of_asking(kind: &str, data: &Value) -> Option<Sentence> {
    Some(match kind {
        "approval.requested" => {
            let card = &data["card"];
            Sentence::new(format!("A card asks, {} risk", text(card, "risk_level")))
                .quoting(text(card, "intent"))
                .toned(Style::Warn)
        }
        "approval.decided" if text(data, "approval_strength") == "implied" => {
            Sentence::new("Approved beforehand, by whoever asked for the work").quiet()
        }
        "approval.decided" => {
            let (word, tone) = match text(data, "verdict") {
                "approved" => ("Approved", Style::Good),
                "conditional" => ("Approved, on conditions", Style::Good),
                "declined" => ("Declined", Style::Bad),
                "edit_requested" => ("Sent back", Style::Warn),
                _ => ("Answered", Style::Plain),
            };
            Sentence::new(format!("{word}{}", by(data))).quoting(text(data, "note")).toned(tone)
        }
        "approval.issued" => Sentence::new("The yes was signed").quiet(),
        "approval.verified" => Sentence::new("The signature was found good, and counted").quiet(),
        "approval.verify_failed" => {
            Sentence::new("An approval was found worthless").quoting(text(data, "reason")).toned(Style::Bad)
        }
        "approval.check_failed" => {
            Sentence::new("An approval did not hold").quoting(text(data, "reason")).toned(Style::Bad)
        }
        "approval.expired" => Sentence::new("Nobody answered a card in time").toned(Style::Bad),
        "approval.withdrawn" => Sentence::new("A card was taken back"),
        "question.asked" => Sentence::new("An agent asks").quoting(text(&data["asked"], "question")).toned(Style::Warn),
        "question.answered" => {
            Sentence::new(format!("A question was answered{}", by(data))).quoting(text(data, "answer"))
        }
        "question.withdrawn" => Sentence::new("A question was taken back"),
        _ => return None,
    })
}

fn of_talk(kind: &str, data: &Value) -> Option<Sentence> {
    Some(match kind {
        "session.opened" => Sentence::new("A conversation began").quoting(text(data, "workspace")),
        "user.said" => Sentence::new("Somebody said").quoting(text(data, "words")),
        "turn.ended" => {
            let decision = &data["decision"];
            let route = spaced(text(decision, "route"));
            Sentence::new(format!("Windlass answered ({route})")).quoting(text(decision, "response"))
        }
        "session.task_taken" => Sentence::new("The conversation began a task"),
        _ => return None,
    })
}

fn of_agent(kind: &str, data: &Value) -> Option<Sentence> {
    Some(match kind {
        "model.requested" => Sentence::new(format!("The model is asked, call {}", data["iteration"])).quiet(),
        "model.responded" => Sentence::new("The model answered").quoting(text(data, "text")).quiet(),
        "model.failed" => {
            let why = if text(data, "message").is_empty() { text(data, "reason") } else { text(data, "message") };
            Sentence::new("The model failed").quoting(why).toned(Style::Bad)
        }
        "model.switched" => Sentence::new("Another model took over").toned(Style::Warn),
        "risk.checked" => {
            let reasons: Vec<&str> =
                data["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let says = format!("`{}` was judged: {} risk", text(data, "tool"), text(data, "level"));
            let told = Sentence::new(says).quoting(&reasons.join("; "));
            if text(data, "ruling") == "continue" { told.quiet() } else { told.toned(Style::Warn) }
        }
        "tool.started" => Sentence::new(format!("`{}` began", text(data, "tool"))).quoting(text(data, "path")).quiet(),
        "tool.finished" => {
            let is_ok = text(data, "status") == "ok";
            let how = if is_ok { "did its work" } else { "failed" };
            let took = duration(data["duration_ms"].as_u64().unwrap_or_default());
            let told =
                Sentence::new(format!("`{}` {how} in {took}", text(data, "tool"))).quoting(text(data, "content"));
            if is_ok { told } else { told.toned(Style::Bad) }
        }
        "owner-effect.recorded" if text(data, "kind") == "told" => {
            Sentence::new("An agent told the user").quoting(text(data, "message"))
        }
        "owner-effect.recorded" => {
            let deliverable = &data["deliverable"];
            Sentence::new("Something was delivered").quoting(text(deliverable, "filepath")).toned(Style::Good)
        }
        "subagent.spawned" => Sentence::new("An agent was given a part of the work"),
        "subagent.finished" => Sentence::new("That agent is done").quiet(),
        "egress.refused" => {
            Sentence::new("A way to the network was refused").quoting(text(data, "host")).toned(Style::Bad)
        }
        "compaction.finished" => Sentence::new("A long conversation was summed up"),
        "state.changed" => {
            Sentence::new(format!("An agent is {}", spaced(text(data, "to")))).quoting(text(data, "reason")).quiet()
        }
        _ => return None,
    })
}

fn of_work(kind: &str, data: &Value) -> Option<Sentence> {
    let atom = || text(data, "atom");
    Some(match kind {
        "task.created" => {
            let goal = text(&data["command"], "goal");
            match data["part_of"].is_null() {
                true => Sentence::new("A task was taken in").quoting(goal),
                false => Sentence::new("A part was taken in").quoting(goal).quiet(),
            }
        }
        "attempt.started" => Sentence::new(format!("Attempt {} began", data["attempt"])).quiet(),
        "attempt.waiting" => Sentence::new("The work waits for an answer").toned(Style::Warn),
        "attempt.woken" => Sentence::new("The work goes on").quiet(),
        "attempt.interrupted" => Sentence::new("An attempt was interrupted").toned(Style::Warn),
        "attempt.ended" => {
            Sentence::new(format!("Attempt {} ended", data["attempt"])).quoting(text(data, "final_message")).quiet()
        }
        "checks.recorded" => checks(data),
        "task.finished" => finished(&data["result"]),
        "task.stop" => Sentence::new(format!("Somebody asked to stop{}", by(data))).quoting(text(data, "reason")),
        "task.pause" => Sentence::new(format!("Somebody asked to pause{}", by(data))).quoting(text(data, "reason")),
        "task.cancel" => Sentence::new(format!("Somebody asked to cancel{}", by(data))).quoting(text(data, "reason")),
        "task.inject" => Sentence::new("Words for whoever works on it").quoting(text(data, "content")),
        "task.time_up" => Sentence::new("The time of a task is up").toned(Style::Bad),
        "planner.started" if data["is_replan"] == true => Sentence::new("A planner writes the plan anew"),
        "planner.started" => Sentence::new("A planner looks around and writes the plan"),
        "plan.proposed" => Sentence::new("A plan was written"),
        "plan.asked" => Sentence::new("The plan waits for a yes").quiet(),
        "plan.answered" => Sentence::new("The plan was answered"),
        "atom.started" => Sentence::new("Work on an item began").quoting(atom()),
        "atom.ended" => Sentence::new("Work on an item ended").quoting(atom()),
        "atom.interrupted" => Sentence::new("Work on an item was interrupted").quoting(atom()).toned(Style::Warn),
        "choice.switched" => Sentence::new("Another way was taken").quoting(text(data, "reason")).toned(Style::Warn),
        "probe.started" => Sentence::new("Somebody looks whether the next way can work"),
        "graph.corrected" => Sentence::new(format!("The work was redirected{}", by(data)))
            .quoting(text(data, "description"))
            .toned(Style::Warn),
        "graph.applied" => Sentence::new("The work came into the folder").toned(Style::Good),
        "consult.asked" => Sentence::new("The planner is asked about something stuck"),
        "help.asked" => Sentence::new("An attempt asks for help").toned(Style::Warn),
        "memory.recorded" => Sentence::new("Something was remembered").quoting(text(data, "text")).quiet(),
        "goal.added" => Sentence::new("A goal was added"),
        "goal.fired" => Sentence::new("A goal was looked at"),
        "goal.troubled" => Sentence::new("A goal is in trouble").toned(Style::Bad),
        "monitor.fired" => Sentence::new("A monitor looked"),
        _ => return None,
    })
}

fn checks(data: &Value) -> Sentence {
    let results: Vec<&Value> = data["results"].as_array().into_iter().flatten().collect();
    let failed: Vec<&str> =
        results.iter().filter(|check| check["passed"] != true).map(|check| text(check, "name")).collect();
    match failed.len() {
        0 => Sentence::new(crate::show::counted(results.len() as u64, "check") + " passed").toned(Style::Good),
        number => {
            let of = crate::show::counted(results.len() as u64, "check");
            Sentence::new(format!("{number} of {of} failed")).quoting(&failed.join(", ")).toned(Style::Bad)
        }
    }
}

fn finished(result: &Value) -> Sentence {
    let (says, tone) = match text(result, "status") {
        "COMPLETED" if result["verified"] == true => ("A task is done, and verified".to_owned(), Style::Good),
        "COMPLETED" => ("A task is done".to_owned(), Style::Good),
        "FAILED" => ("A task ended: failed".to_owned(), Style::Bad),
        other => (format!("A task ended: {}", spaced(&other.to_lowercase())), Style::Plain),
    };
    Sentence::new(says).quoting(text(result, "final_message")).toned(tone)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_are_told_in_words_and_what_has_none_by_its_name() {
        let check = |about: &str, kind: &str, data: Value, expected: &str| {
            let told = sentence(about, kind, &data);
            let quiet = if told.is_quiet { " (quiet)" } else { "" };
            assert_eq!(told.line().text() + quiet, expected);
        };
        let card = json!({"card": {"risk_level": "high", "intent": "push it\nand more"}});
        check("approval", "approval.requested", card, "A card asks, high risk › push it …");
        let declined = json!({"verdict": "declined", "by": "you", "note": "not this file"});
        check("approval", "approval.decided", declined, "Declined by you › not this file");
        let results = json!({"results": [{"name": "tests", "passed": false}, {"name": "lint", "passed": true}]});
        check("task", "checks.recorded", results, "1 of 2 checks failed › tests");
        let done = json!({"result": {"status": "COMPLETED", "verified": true, "final_message": "all of it"}});
        check("task", "task.finished", done, "A task is done, and verified › all of it");
        check("execution", "tool.started", json!({"tool": "bash"}), "`bash` began (quiet)");
        check("audit", "head.signed", json!({}), "Audit: signed (quiet)");
    }

    #[test]
    fn what_others_say_stays_in_its_row_and_does_nothing_to_the_terminal() {
        let hostile = json!({"words": "\u{1b}]52;c;aGk=\u{7}a\u{202e}b\rc", "by": "x\u{1b}[2J"});
        let told = sentence("session", "user.said", &hostile).line().text();
        assert!(told.contains("<U+202E>") && !told.contains(char::is_control), "{told}");
        let named = sentence("task", "task.stop", &hostile).line().text();
        assert!(!named.contains(char::is_control), "{named}");
    }
}
