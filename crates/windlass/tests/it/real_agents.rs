//! The coding agents themselves, run by Windlass: `make test-agents` installs them and says where they are.

use crate::support::{Ended, Home};

const AGENTS: [&str; 3] = ["claude-code", "codex", "pi"];

fn windlass(home: &Home, words: &[&str]) -> Ended {
    let place = std::env::var("WINDLASS_AGENTS").expect("`make test-agents` sets it");
    home.windlass(words).env("WINDLASS_AGENTS", &place).run()
}

#[test]
fn each_of_them_passes_its_test() {
    let home = Home::new();
    for agent in AGENTS {
        let result = windlass(&home, &["agent", "test", agent, "--json"]).expect(0).result();
        assert_eq!((&result["structured"], &result["auth"]), (&true.into(), &"rehearsed".into()), "{result}");
        assert!(result["version"].is_string(), "{result}");
    }
}

#[test]
fn a_model_that_refuses_is_told_from_a_program_that_does_not_work() {
    let home = Home::playing(
        "version: 1\ntracks: { default: [ { error: { status: 401, times: 100 } }, { reply: Never. } ] }\n",
    );
    let script = home.script();
    for agent in AGENTS {
        let words = ["agent", "test", agent, "--rehearsal", script.to_str().expect("a plain path"), "--json"];
        let result = windlass(&home, &words).expect(1).result();
        assert_eq!((&result["structured"], &result["auth"]), (&true.into(), &"refused".into()), "{result}");
    }
}
