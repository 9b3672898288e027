//! The table of risks in an operator's hands.

use serde_json::json;
use windlass_policy::risk::{BadTable, Level, Place, Table, assess_call, assess_command};

fn level(table: &Table, command: &str) -> Level {
    assess_command(table, command, &Place::workspace()).level
}

fn bad(text: &str) -> BadTable {
    Table::shipped().changed_by(text).expect_err("a bad table")
}

#[test]
fn an_operator_changes_what_they_name_and_nothing_else() {
    let text = r#"
        [tools]
        deploy = "critical"
        [shell]
        general = "low"
        [program.rm]
        level = "low"
        [program.terraform]
        when = [{ flags = ["auto-approve"], level = "critical" }]
        [[call]]
        tool = "browser"
        field = "action"
        values = ["navigate"]
        level = "critical"
    "#;
    let changed = Table::shipped().changed_by(text).expect("a good table");
    assert_eq!(level(&changed, "rm -rf target"), Level::Low);
    assert_eq!(level(&changed, "chmod +x a"), Level::High);
    assert_eq!(level(&changed, "terraform apply -auto-approve"), Level::Critical);
    assert_eq!(level(&changed, "terraform plan"), Level::Low);
    let call = |tool: &str, arguments| assess_call(&changed, tool, &arguments, &Place::workspace()).level;
    assert_eq!(call("deploy", json!({})), Level::Critical);
    assert_eq!(call("browser", json!({"action": "navigate"})), Level::Critical);
    assert_eq!(call("browser", json!({"action": "submit"})), Level::High);
    assert_eq!(Table::shipped().changed_by("").expect("nothing changes"), Table::shipped());
}

#[test]
fn a_bad_table_says_where_and_what() {
    let at = |text: &str| {
        let bad = bad(text);
        (bad.line, bad.column)
    };
    assert_eq!(at("[tools]\nread = \"lowest\"\n"), (2, 8));
    assert_eq!(at("[tools\n"), (1, 7));
    assert_eq!(at("[shell]\n\nunheard_of = 1\n"), (3, 1));
    assert_eq!(at("[program.rm]\nlevel = 3\n"), (2, 9));
    assert!(bad("[shell]\nunheard_of = 1").to_string().starts_with("2:1: unknown field `unheard_of`"));
    assert_eq!(bad(&" ".repeat(300_000)).message, "the table is larger than 256 KiB");
}

#[test]
fn a_smaller_size_is_an_operators_choice() {
    let small = Table::shipped().changed_by("[shell]\nmax_bytes = 10").expect("a good table");
    assert_eq!(level(&small, "ls -la"), Level::Medium);
    assert_eq!(level(&small, "ls -la sub/folder"), Level::Critical);
}
