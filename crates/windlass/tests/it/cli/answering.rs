//! `windlass inbox`, `approve`, `deny` and `edit`: what is asked, and what becomes of each answer.

use super::assert_shown;
use super::cards::{approve, asked, card, is_there, open_cards, short, standing, waits_to_ask};
use crate::support::{Home, none_left, read};

#[test]
fn what_is_risky_waits_and_costs_nothing() {
    let home = waits_to_ask();
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 3
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I will remove the old file.
    ! bash rm old.txt; echo gone  high risk: it runs rm
    ? bash rm old.txt; echo gone  needs approval: card [SHORT]
    waiting for an answer · card [SHORT]

    WAITING FOR YOU  1 model call · 0 tool calls · 940 tokens · $0.0000 · [TIME]
    to see it whole: windlass inbox; to answer: windlass approve [SHORT], or deny, or edit; then: windlass resume [SHORT]
    ");
    none_left(&home);
    assert!(is_there(&home, "old.txt"));
    assert_shown!(home, home.windlass(&["inbox"]).run(), @r#"
    exit code 0
    --- stdout
    card [SHORT]  high risk  task [SHORT] · asked [TIME] ago · expires in [TIME] ([WHEN])
      wants     run rm old.txt; echo gone
      why       its risk is high: it runs rm
      agent     its own words, which nobody has to believe:
      │ I will remove the old file.
      runs      bash -c
      │ rm old.txt; echo gone
      in        [HOME]/workspace · sandbox bubblewrap
      file      old.txt · as it is now (01d09d19c213)
      then      runs once, as shown; what it does cannot be taken back
      at worst  the whole task uses 5 attempts · 200,000 tokens · $2.0000 · [TIME], and one model call more

    to answer: windlass approve [SHORT] · windlass deny [SHORT] · windlass edit [SHORT] --note "…"
    "#);
    assert_shown!(home, home.windlass(&["status"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  waits for you · card [SHORT] [TIME] ago  Do it
    ");
    let result = home.windlass(&["resume", "--json"]).run().expect(3).result();
    assert_eq!(result["status"], "BLOCKED_USER");
    assert!(is_there(&home, "old.txt"), "nobody has answered");
    assert_eq!(open_cards(&home).len(), 1, "and it is asked once");
}

#[test]
fn approved_it_runs_exactly_that_once_and_completes() {
    let home = asked();
    let short = card(&home);
    assert_shown!(home, home.windlass(&["approve", &short, "--note", "go on", "--yes"]).run(), @"
    exit code 0
    --- stdout
    APPROVED  card [SHORT] · task [SHORT]
    to go on: windlass resume [SHORT]; a worker does so by itself
    ");
    assert_eq!(standing(&home), "answered");
    assert!(is_there(&home, "old.txt"), "an answer runs nothing by itself");
    home.windlass(&["resume"]).run().expect(0);
    assert!(!is_there(&home, "old.txt"));
    let story = read(&home);
    assert_eq!(story.of("tool.started").count(), 1);
    let finished = story.of("tool.finished").next().expect("one call");
    assert!(finished["data"]["content"].as_str().expect("text").contains("gone"), "{finished}");
    let audit = home.windlass(&["audit", "show"]).run().expect(0).stdout;
    for event in ["approved  go on", "verified", "passed"] {
        assert!(audit.contains(event), "{event} in\n{audit}");
    }
    home.windlass(&["audit", "verify"]).run().expect(0);
    assert_shown!(home, home.windlass(&["inbox"]).run(), @"
    exit code 0
    --- stdout
    Nobody asks you for anything.
    ");
}

#[test]
fn denied_the_agent_hears_it_and_goes_on() {
    let home = asked();
    let short = card(&home);
    assert_shown!(home, home.windlass(&["deny", &short, "--note", "not this one"]).run(), @"
    exit code 0
    --- stdout
    DENIED  card [SHORT] · task [SHORT]
    to go on: windlass resume [SHORT]; a worker does so by itself
    ");
    let ended = home.windlass(&["resume"]).run().expect(0);
    assert!(ended.stdout.contains("│ Then I leave it."), "{}", ended.stdout);
    assert!(is_there(&home, "old.txt"));
    assert_eq!(read(&home).of("tool.started").count(), 0);
}

#[test]
fn a_reason_that_a_gate_blocks_is_not_heard_and_nothing_is_answered() {
    let home = asked();
    let short = card(&home);
    let gate = "- { name: no-names, on: every_user_message, type: string_match, config: { field: message, any_of: [Bobby] } }\n";
    std::fs::write(home.data().join("gates.yaml"), gate).expect("written");
    for command in ["deny", "edit"] {
        let refused = home.windlass(&[command, &short, "--note", "ask Bobby"]).run().expect(1);
        assert!(refused.stderr.contains("no-names"), "{}", refused.stderr);
    }
    assert_eq!(standing(&home), "waiting");
    home.windlass(&["deny", &short, "--note", "ask somebody"]).run().expect(0);
}

#[test]
fn sent_back_the_agent_does_it_differently() {
    let home = asked();
    let short = card(&home);
    let result = home.windlass(&["edit", &short, "--note", "keep a copy", "--json"]).run().expect(0).result();
    assert_eq!(result["verdict"], "edit_requested");
    home.windlass(&["resume"]).run().expect(0);
    assert!(is_there(&home, "old.txt") && is_there(&home, "copy.txt"));
    home.windlass(&["edit", &short]).run().expect(2);
}

#[test]
fn a_high_risk_takes_a_second_step() {
    let home = asked();
    let short = card(&home);
    assert_shown!(home, home.windlass(&["approve", &short]).run(), @"
    exit code 2
    --- stderr
    error: this card asks for a second step: confirm it
    hint: look at it with `windlass inbox`; --yes is the second step where there is no terminal
    ");
    assert_eq!(card(&home), short, "it is still asked");
    approve(&home);
}

#[test]
fn with_conditions_it_is_an_approval_of_its_own_kind() {
    let home = asked();
    let words = ["approve", &card(&home), "--yes", "--condition", "only today", "--json"];
    assert_eq!(home.windlass(&words).run().expect(0).result()["verdict"], "conditional");
    home.windlass(&["resume"]).run().expect(0);
    assert!(!is_there(&home, "old.txt"));
}

#[test]
fn an_answer_that_comes_twice_late_or_from_nowhere_changes_nothing() {
    let home = asked();
    let short = card(&home);
    approve(&home);
    assert_shown!(home, home.windlass(&["deny", &short]).run(), @"
    exit code 2
    --- stderr
    error: the card was answered before (approved); nothing was changed
    ");
    home.windlass(&["resume"]).run().expect(0);
    assert!(!is_there(&home, "old.txt"), "the first answer stands");
    assert_shown!(home, home.windlass(&["approve", &short, "--yes"]).run(), @"
    exit code 2
    --- stderr
    error: the card was answered before (approved); nothing was changed
    ");
    assert_shown!(home, home.windlass(&["approve", "ffffffff", "--yes"]).run(), @"
    exit code 2
    --- stderr
    error: there is no card `ffffffff` here
    hint: `windlass inbox` shows the cards
    ");
    let unknown = "01a00000-0000-7000-8000-000000000000";
    assert_shown!(home, home.windlass(&["approve", unknown, "--yes"]).run(), @"
    exit code 2
    --- stderr
    error: there is no such card
    hint: `windlass inbox` shows the cards
    ");
}

#[test]
fn an_open_card_is_found_before_one_that_was_answered() {
    let home = asked();
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    home.write("old.txt", "old\n");
    home.run(&[]).run().expect(3);
    // Both ids begin with it.
    let open = open_cards(&home)[0]["card_id"].as_str().expect("an id").to_owned();
    home.windlass(&["approve", &open[..3], "--yes"]).run().expect(0);
    let unclear = home.windlass(&["approve", &open[..3], "--yes"]).run().expect(2);
    assert!(unclear.stderr.contains("may be any of these"), "{}", unclear.stderr);
}

#[test]
fn after_the_run_has_ended_there_is_nothing_to_answer() {
    let home = asked();
    let short = card(&home);
    let task = super::cards::short(&home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"]);
    home.windlass(&["cancel", &task]).run().expect(0);
    assert_shown!(home, home.windlass(&["approve", &short, "--yes"]).run(), @"
    exit code 2
    --- stderr
    error: the run has ended; nothing was changed
    ");
    assert!(open_cards(&home).is_empty());
    assert!(is_there(&home, "old.txt"));
}

#[test]
fn a_card_is_known_in_its_own_data_directory_alone() {
    let (one, other) = (asked(), asked());
    let id = open_cards(&one)[0]["card_id"].as_str().expect("an id").to_owned();
    for named in [id.as_str(), &id[28..]] {
        let refused = other.windlass(&["approve", named, "--yes"]).run().expect(2);
        assert!(refused.stderr.contains("there is no"), "{}", refused.stderr);
    }
    other.windlass(&["resume"]).run().expect(3);
    assert!(is_there(&other, "old.txt"));
    one.windlass(&["approve", &id, "--yes"]).run().expect(0);
}

#[test]
fn one_card_is_shown_whole_and_the_others_wait_below() {
    let home = asked();
    home.run(&[]).run().expect(3);
    let shown = home.windlass(&["inbox"]).run().expect(0).stdout;
    let cards = open_cards(&home);
    let (first, second) = (short(&cards[0]["card_id"]), short(&cards[1]["card_id"]));
    assert!(shown.starts_with(&format!("card {first}  high risk")), "the oldest first:\n{shown}");
    assert!(
        shown.contains(&format!("and after it, 1:\ncard {second}  high risk  run rm old.txt; echo gone")),
        "{shown}"
    );
    assert_eq!(shown.matches("bash -c").count(), 1, "{shown}");
    assert!(cards[0]["details"]["argv"][2] == "rm old.txt; echo gone" && cards[0]["task_id"].is_string(), "{cards:?}");
}

#[test]
fn nobody_answers_for_nobody() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["inbox"]).run(), @"
    exit code 0
    --- stdout
    Nobody asks you for anything.
    ");
    home.windlass(&["approve", "", "--yes"]).run().expect(2);
}
