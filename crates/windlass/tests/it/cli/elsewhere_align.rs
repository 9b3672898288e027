//! An objective agreed on with a server: in a dialogue at the terminal, from a file that lies where the command is typed, in words; and
//! written again. What is told is what is told where the data directory is.

use super::elsewhere::Away;
use super::elsewhere_work::{OBJECTIVE, stopped, the_same};
use super::serving::{serve, token};
use crate::support::{Ended, Home, Terminal};

/// A planner that asks before it writes, and writes something smaller where it is told to.
fn planners() -> String {
    let document = |text: &str| serde_json::to_string(text).expect("plain text");
    let smaller = OBJECTIVE.replace("Two files", "One file").replace("depends_on: [b], ", "");
    let smaller = smaller.lines().filter(|line| !line.contains("id: b")).map(|line| format!("{line}\n"));
    format!(
        "version: 1\ntracks:\n  planner:\n    - when: {{ request: 'with one file only' }}\n      reply: {}\n    \
         - when: {{ request: 'with none at all' }}\n      reply: no\n      repeat: forever\n    \
         - when: {{ request: 'User responded' }}\n      reply: {two}\n    \
         - calls: [ {{ tool: ask_user, args: {{ question: 'Which files?' }} }} ]\n    - reply: {two}\n",
        document(&smaller.collect::<String>()),
        two = document(OBJECTIVE),
    )
}

fn rehearsed(home: &Home, words: &[&str]) -> Ended {
    home.windlass(&[&["align", "--rehearsal", "../script.yaml"], words].concat()).run()
}

#[test]
fn what_is_agreed_on_is_told_the_same_here_and_there() {
    let (local, home) = (Home::playing(&planners()), Home::playing(&planners()));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let files = [
        ("objective.md", OBJECTIVE.to_owned()),
        ("broken.md", OBJECTIVE.replace("id: a", "di: a")),
        ("odd.md", OBJECTIVE.replace("goal: Two files", "goal: Two files\n  status: open")),
    ];
    for folder in [local.workspace(), away.home.workspace()] {
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("written"));
    }
    let goal = ["--goal", "Two files", "--base-case", "file: a.txt"];
    let more = ["--deliverable", "a file", "--max-passes", "7", "--max-model-calls", "9", "--json"];
    for (words, code) in [
        (&["--from", "objective.md"][..], 0),
        (&["--from", "odd.md"], 0),
        (&["--from", "broken.md"], 2),
        (&["--from", "nowhere.md"], 2),
        (&["--from", "objective.md", "--max-passes", "3"], 2),
        (&["--goal", "Two files"], 2),
        (&["--goal", " ", "--base-case", "file: a.txt"], 2),
        (&["--goal", "Two files", "--base-case", "fiel: a.txt"], 2),
        (&["--task", "nosuchtask", "--change", "x"], 2),
        (&goal, 0),
    ] {
        let there = away.windlass(&[&["align"], words].concat()).run().expect(code);
        assert_eq!(
            there.stderr.contains("odd.md:4:") && there.stderr.contains("means nothing here"),
            words[1] == "odd.md"
        );
        the_same((&local, &rehearsed(&local, words)), (&home, &there));
    }
    let words = [&goal[..], &more].concat();
    let (here, there) = (rehearsed(&local, &words), away.windlass(&[&["align"], &words[..]].concat()).run());
    let agreed = |ended: Ended| ended.expect(0).result();
    let (here, there) = (agreed(here), agreed(there));
    assert_eq!((&there["aligned"], &there["objective"]), (&true.into(), &here["objective"]), "{here}");
    assert_eq!(there["worst_case"], here["worst_case"]);

    let asks = away.with_token(&token(&home, "asks", &["--scope", "read,write"]));
    asks.windlass(&["align", "--from", "objective.md"]).run().expect(2);
    std::fs::write(asks.home.workspace().join("objective.md"), OBJECTIVE).expect("written");
    asks.windlass(&["align", "--from", "objective.md"]).run().expect(0);
    let looks = away.with_token(&token(&home, "looks", &["--scope", "read"]));
    let refused = looks.windlass(&[&["align"][..], &goal].concat()).run().expect(2);
    assert!(refused.stderr.contains("the scope `write`"), "{}", refused.stderr);
    for flag in [["--rehearsal", "x"], ["--sandbox", "docker"]] {
        let told = away.windlass(&[&["align"], &goal[..], &flag].concat()).run().expect(2);
        assert!(told.stderr.contains(&format!("{} cannot be said to a server", flag[0])), "{}", told.stderr);
    }
    let outside = away.windlass(&[&["align", "--workspace", "/etc"][..], &goal].concat()).run().expect(2);
    assert!(outside.stderr.contains("no such folder among those that are listed"), "{}", outside.stderr);
    served.end();
}

/// Without a terminal what the planner asks is left to somebody who answers, here and there.
#[test]
fn a_planners_question_waits_and_its_objective_is_written_again() {
    let (local, home) = (Home::playing(&planners()), Home::playing(&planners()));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let wanted = "Some files, please";
    the_same((&local, &rehearsed(&local, &[wanted])), (&home, &away.windlass(&["align", wanted]).run().expect(3)));
    let asker = |asked: Ended| asked.expect(0).objects()[0]["task_id"].as_str().expect("whose question").to_owned();
    let (mine, theirs) =
        (asker(local.windlass(&["inbox", "--json"]).run()), asker(away.windlass(&["inbox", "--json"]).run()));
    local.windlass(&["send", &mine, "Two."]).run().expect(0);
    away.windlass(&["send", &theirs, "Two."]).run().expect(0);
    // Whether the planner was taken up before or after it was asked to go on is the server's to say: its end is the same.
    local.windlass(&["resume"]).run().expect(0);
    let told = away.windlass(&["resume"]).run().expect(0).stdout;
    assert!(told.contains("it is agreed on\n"), "{told}");
    assert_eq!(told.matches("to begin: windlass start").count(), 1, "{told}");
    let newest = |home: &Home| home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].clone();
    let (here, there) = (newest(&local), newest(&home));
    for (change, code) in [("with one file only", 0), ("with none at all", 1)] {
        let words =
            |task: &serde_json::Value| ["--task", task.as_str().expect("an id"), "--change", change].map(str::to_owned);
        let (here, there) = (words(&here), words(&there));
        let mine = rehearsed(&local, &here.each_ref().map(String::as_str));
        let there = [&["align"], &there.each_ref().map(String::as_str)[..]].concat();
        let theirs = away.windlass(&there).run().expect(code);
        the_same((&local, &mine), (&home, &theirs));
        assert!(theirs.stdout.contains("One file"), "{}", theirs.stdout);
    }
    served.end();
}

fn at_terminal(away: &Away, words: &str) -> Terminal {
    let variables = format!("WINDLASS_SERVER={} WINDLASS_TOKEN={}", away.server, away.token);
    let mut terminal = Terminal::start_with(&away.home, &variables, words);
    terminal.types("go\n");
    terminal
}

#[test]
fn a_planner_of_a_servers_is_answered_and_told_otherwise_at_the_terminal() {
    let home = Home::playing(&planners());
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mut terminal = at_terminal(&away, "align 'Some files, please'");
    terminal.wait_for("Which files?");
    terminal.wait_for("your answer");
    terminal.types("Two of them.\n");
    terminal.wait_for("Two files");
    terminal.wait_for("What should be different? Enter leaves it so: ");
    terminal.types("with one file only\n");
    terminal.wait_for("One file");
    terminal.wait_for("What should be different? Enter leaves it so: ");
    terminal.types("\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(shown.matches("to begin: windlass start ").count(), 1, "{shown}");
    assert_eq!(shown.matches("at worst").count(), 2, "once each time: {shown}");
    served.end();
}

#[test]
fn what_is_to_be_different_is_asked_about_from_elsewhere() {
    let (home, task) = stopped();
    let served = serve(&home, &["--workspace", ".", "--no-work"]);
    let away = Away::from(&served);
    let mut terminal = at_terminal(&away, "redirect");
    for (question, answer) in [
        ("What is to be different?", ""),
        ("1, 2, 3 or 4", "2\n"),
        ("a: Write the first file.", ""),
        ("An atom to do without", "a\n"),
        ("An atom to do without", "\n"),
        ("A way to take", "\n"),
        ("A new atom", "{id: d, description: Write the fourth file., verify: [{file: d.txt}]}\n"),
        ("A new atom", "\n"),
        ("What is to hold it", "\n"),
        ("d: new", ""),
        ("Is that meant? [y/N]", "y\n"),
    ] {
        terminal.wait_for(question);
        terminal.types(answer);
    }
    terminal.wait_for("REDIRECTED");
    assert_eq!(terminal.end().0, Some(0));
    let graph = away.windlass(&["graph", &task]).run().expect(0).stdout;
    assert!(graph.contains("Write the fourth file.") && !graph.contains("Write the first file."), "{graph}");
    let mut terminal = at_terminal(&away, &format!("redirect {task}"));
    terminal.wait_for("1, 2, 3 or 4");
    terminal.types("\n");
    terminal.wait_for("nothing was changed");
    assert_eq!(terminal.end().0, Some(4));
    let unasked = away.windlass(&["redirect"]).run().expect(2).stderr;
    assert!(unasked.contains("nothing is to be different"), "{unasked}");
    served.end();
}
