//! Patterns from end to end: listed, checked, added without code, named on a run and on an item of a plan, seen in `context.md` and in
//! the log; and the tactician, which is given no tools.

use std::fs;
use std::path::PathBuf;

use super::assert_shown;
use super::cards::{approve, open_cards};
use crate::support::{Home, read};

const TEA: &str = "name: tea\ndescription: Make tea.\nsteps:\n  - {name: boil, tools: [write]}\n  - {name: pour, tools: [write], done_when: {file_exists: cup.txt}}\n";

fn decision(tool: &str, arguments: &str) -> String {
    format!(
        "    - reply: '{{\"_type\": \"EXECUTOR_DECISION\", \"action\": \"CALL_TOOL\", \"tool\": {{\"name\": \"{tool}\", \"args\": {arguments}}}, \
         \"reasoning\": \"the next step\"}}'\n      usage: {{ input: 900, output: 40 }}\n"
    )
}

const DONE: &str = "    - reply: '{\"_type\": \"EXECUTOR_DECISION\", \"action\": \"DONE\", \"reasoning\": \"Tea is a skill now.\"}'\n      usage: { input: 900, output: 10 }\n      repeat: forever\n";

/// Reads, makes the skill, and is done.
fn builder() -> Home {
    let skill = "{\"name\": \"making-tea\", \"description\": \"How tea is made\", \"instructions\": \"Boil water.\"}";
    let lines = [decision("read", "{\"path\": \"notes.md\"}"), decision("create_skill", skill), DONE.to_owned()];
    let home = Home::playing(&format!("version: 1\ntracks:\n  default:\n{}", lines.concat()));
    home.write("notes.md", "Boil water first.\n");
    home
}

fn own(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(home.data().join("patterns")).expect("a folder");
    fs::write(home.data().join("patterns").join(name), text).expect("a file");
}

/// The only one there is.
fn context_md(home: &Home) -> String {
    let folders =
        fs::read_dir(home.data().join("traces")).expect("traces").map(|entry| entry.expect("an entry").path());
    let pages: Vec<PathBuf> = folders.map(|folder| folder.join("context.md")).filter(|page| page.is_file()).collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    fs::read_to_string(&pages[0]).expect("a page")
}

#[test]
fn patterns_are_listed_with_what_is_wrong() {
    let home = Home::new();
    own(&home, "tea.yaml", TEA);
    own(&home, "research.yaml", &TEA.replace("name: tea", "name: research"));
    own(&home, "bad.yaml", "name: bad\nstpes: []\n");
    assert_shown!(home, home.windlass(&["patterns", "list"]).run(), @"
    exit code 0
    --- stdout
    research (user)  Make tea.  boil → pour
    tea (user)  Make tea.  boil → pour
    code_create (shipped)  Write something new, with a test that shows that it works.  design → write → test
    code_modify (shipped)  Change code that is there, and see that its tests pass.  read → understand → edit → verify
    generic (shipped)  Work that has no steps of its own.  work
    memory_op (shipped)  Look up what is noted, and bring the notes up to date.  query → update
    research (shipped)  not used: [HOME]/data/patterns/research.yaml has the same name
    skill_build (shipped)  Find out how something is done and keep it as a skill.  research → synthesize → generate
    ✘ [HOME]/data/patterns/bad.yaml:
      2:1: unknown field `stpes`; did you mean `steps`?
    ");
    let objects = home.windlass(&["patterns", "list", "--json"]).run().expect(0).objects();
    let result = objects.last().expect("a result");
    assert_eq!((&result["patterns"], &result["bad"]), (&7.into(), &1.into()));
}

#[test]
fn a_pattern_is_shown_and_a_document_is_checked() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["patterns", "show", "skill_build"]).run(), @"
    exit code 0
    --- stdout
    skill_build  Find out how something is done and keep it as a skill.
    shipped/skill_build.yaml
    1. research  web_search, web_fetch, browser, read, grep, search_memo, read_skill · skipped when the task came with attachments or the task came with bindings · at most 3 calls
    2. synthesize  no calls
    3. generate  create_skill · at most 3 calls
    at most 5 changes of step; a tactician is asked with 3500 tokens: 800 of instructions, 1500 of context.md, 500 for its answer
    ");
    home.write("tea.yaml", TEA);
    assert_shown!(home, home.windlass(&["patterns", "check", "tea.yaml"]).run(), @"
    exit code 0
    --- stdout
    ✔ tea: boil → pour
    ");
    home.write("tea.yaml", &TEA.replace("tools: [write]}", "tols: [write]}").replace("file_exists", "file_exist"));
    assert_shown!(home, home.windlass(&["patterns", "check", "tea.yaml"]).run(), @"
    exit code 2
    --- stderr
    error: tea.yaml:4:18: unknown field `tols`; did you mean `tools`?
    tea.yaml:5:46: unknown field `file_exist`; did you mean `file_exists`?
    hint: docs/patterns.md has every field
    ");
    let error = home.windlass(&["patterns", "show", "brew"]).run().expect(2).stderr;
    assert!(error.contains("there is no pattern `brew`") && error.contains("windlass patterns list"), "{error}");
}

/// Seed 003's criteria, through the program: in three decisions, with the step state in `context.md`.
#[test]
fn skill_build_in_three_decisions_with_its_state_in_context_md() {
    let home = builder();
    home.run(&["--pattern", "skill_build", "--tactician"]).run().expect(3);
    let cards = open_cards(&home);
    assert_eq!(
        (cards[0]["details"]["tool"].as_str(), cards[0]["risk_level"].as_str()),
        (Some("create_skill"), Some("high"))
    );
    let waiting = context_md(&home);
    assert!(waiting.contains("1. [done] research") && waiting.contains("Current step: synthesize"), "{waiting}");
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert!(home.read(".windlass/skills/making-tea/SKILL.md").contains("Boil water."));
    let story = read(&home);
    assert_eq!(story.of("model.responded").count(), 3);
    assert_eq!(story.of("pattern.stepped").count(), 3);
    let page = context_md(&home);
    for part in [
        "## §0 Request",
        "> Do it",
        "## §1 Analysis",
        "## §2 Gathered context",
        "## §3 Plan",
        "3. [done] generate",
        "## §4 Results",
        "Boil water first.",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(page.contains("The pattern is over: complete."), "{page}");
    let log = home.windlass(&["log"]).run().expect(0).stdout;
    assert!(
        log.contains("» step research done") && log.contains("now synthesize") && log.contains("all steps are done"),
        "{log}"
    );
    home.windlass(&["audit", "verify"]).run().expect(0);
}

/// A no is a failure of the step like any other, and nothing is installed.
#[test]
fn a_skill_that_nobody_approves_is_not_made() {
    let home = builder();
    home.run(&["--pattern", "skill_build", "--tactician"]).run().expect(3);
    let card = super::cards::card(&home);
    home.windlass(&["deny", &card, "--note", "not now"]).run().expect(0);
    let ended = home.windlass(&["resume", "--json"]).run();
    assert_eq!(ended.code(), 1, "{}", ended.stdout);
    assert_eq!(ended.result()["error_details"]["error_code"], "stuck");
    assert!(!home.workspace().join(".windlass").exists());
}

#[test]
fn a_model_without_tool_calls_is_asked_for_decisions_by_itself() {
    let home = builder();
    fs::create_dir_all(home.data()).expect("a data directory");
    fs::write(home.data().join("windlass.toml"), "[models.\"rehearsal\"]\ntool_calls = false\n").expect("a file");
    home.run(&["--pattern", "skill_build"]).run().expect(3);
    assert_eq!(open_cards(&home)[0]["details"]["tool"], "create_skill");
}

const MAKER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: write, args: { path: kettle.txt, content: "hot\n" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: write, args: { path: cup.txt, content: "tea\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: Tea.
      usage: { input: 900, output: 10 }
"#;

/// No code: a document in the data directory is all there is to it.
#[test]
fn a_pattern_of_one_s_own_leads_a_run() {
    let home = Home::playing(MAKER);
    own(&home, "tea.yaml", TEA);
    home.run(&["--pattern", "tea"]).run().expect(0);
    let story = read(&home);
    let steps: Vec<_> = story
        .of("pattern.stepped")
        .map(|record| record["data"]["from"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(steps, ["boil", "pour"]);
    // The task keeps to what it was begun with; a new one sees what became of the document.
    own(&home, "tea.yaml", "name: tea\n");
    let error = home.run(&["--pattern", "tea"]).run().expect(2).stderr;
    assert!(error.contains("`description` is missing") && error.contains("`steps` is missing"), "{error}");
}

#[test]
fn a_workspace_s_patterns_are_heard_where_the_operator_says_so() {
    let home = Home::playing(MAKER);
    home.write(".windlass/patterns/tea.yaml", TEA);
    let error = home.run(&["--pattern", "tea"]).run().expect(2).stderr;
    assert!(error.contains("there is no pattern `tea`"), "{error}");
    fs::create_dir_all(home.data()).expect("a data directory");
    fs::write(home.data().join("windlass.toml"), "[patterns]\nfrom = [\"user\", \"workspace\", \"shipped\"]\n")
        .expect("a file");
    home.run(&["--pattern", "tea"]).run().expect(0);
}

#[test]
fn an_item_of_a_plan_is_led_by_the_pattern_it_names() {
    let plan =
        "---\nid: tea\ntype: task\ntitle: Tea\npattern: tea\nverify: [{file: cup.txt}]\n---\n# What to do\nMake tea.\n";
    let home = Home::playing(MAKER);
    fs::write(home.path().join("plan.md"), plan).expect("written");
    let run = ["run", "--plan", "../plan.md", "--rehearsal", "../script.yaml"];
    let error = home.windlass(&run).run().expect(2).stderr;
    assert!(error.contains("there is no pattern `tea`"), "{error}");
    own(&home, "tea.yaml", TEA);
    home.windlass(&run).run().expect(3);
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(home.read("cup.txt"), "tea\n");
    assert!(context_md(&home).contains("2. [done] pour"));
    let error = home
        .windlass(&["run", "--plan", "../plan.md", "--rehearsal", "../script.yaml", "--pattern", "tea"])
        .run()
        .expect(2)
        .stderr;
    assert!(error.contains("--pattern says what the plan says already"), "{error}");
}
