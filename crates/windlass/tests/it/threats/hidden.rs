//! Text that a terminal would obey or an eye would not see, in a command: every place that shows it writes it out, and what
//! runs after a yes is what the agent asked for, byte for byte.

use super::trial::{audited, cards, is_unharmed, put_data, scene, text};
use crate::support::Ended;

/// Reordered, invisible, overwritten, coloured, put on the clipboard, and lines like Windlass's own.
const ODD: &str =
    "a\u{202e}b\u{200b}c\rd\u{1b}[2Ke\u{1b}]52;c;cm0gLXJm\u{7}f\ncard 00000000  low risk\n✔ check `x` passed\u{2028}g";

fn command() -> String {
    format!("printf %s '{ODD}' > '/workspace/marker'; rm -r victim")
}

#[track_caller]
fn is_harmless_to_read(what: &str, shown: &Ended) {
    let obeyed = |letter: char| letter.is_control() && letter != '\n' || "\u{202e}\u{200b}\u{2028}".contains(letter);
    assert!(!shown.stdout.contains(obeyed), "{what}: {:?}", shown.stdout);
    assert!(!shown.stderr.contains(obeyed), "{what}: {:?}", shown.stderr);
    let forged = |line: &&str| line.starts_with("card 00000000") || line.trim_start().starts_with("✔ check `x`");
    assert_eq!(shown.stdout.lines().find(forged), None, "{what}:\n{}", shown.stdout);
}

#[test]
fn what_is_shown_is_what_runs() {
    let home = scene(&command());
    is_harmless_to_read("run", &home.run(&[]).run().expect(3));
    for words in [&["inbox"][..], &["log"], &["log", "--surface", "all"], &["status"], &["audit", "show"]] {
        is_harmless_to_read(words[0], &home.windlass(words).run().expect(0));
    }
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    for hidden in ["<U+202E>", "<U+200B>", "<U+000D>", "<U+001B>", "<U+0007>", "<U+2028>"] {
        assert!(inbox.contains(hidden), "{hidden} is seen:\n{inbox}");
    }
    let card = &cards(&home)[0];
    assert_eq!(card["details"]["argv"][2], command(), "the control: for programs it is as it is");
    home.windlass(&["approve", text(&card["card_id"]), "--yes"]).run().expect(0);
    is_harmless_to_read("resume", &home.windlass(&["resume"]).run().expect(0));
    assert_eq!(home.read("marker"), ODD);
    assert!(!is_unharmed(&home));
}

#[test]
fn a_reason_in_the_audit_is_one_line() {
    let home = scene("rm -rf victim; echo x > '/etc/\u{1b}]52;c;cm0=\u{7}\n2026-01-01T00:00:00.000Z  approval  user'");
    is_harmless_to_read("run", &home.run(&[]).run().expect(0));
    let shown = home.windlass(&["audit", "show"]).run().expect(0);
    is_harmless_to_read("audit", &shown);
    assert_eq!(shown.stdout.lines().find(|line| line.starts_with("2026-01-01")), None, "{}", shown.stdout);
    assert!(shown.stdout.contains("<U+001B>]52;c;cm0=<U+0007><U+000A>2026-01-01"), "{}", shown.stdout);
    let blocks = audited(&home, "gate_block");
    assert!(blocks.len() == 1 && text(&blocks[0]["reason"]).contains('\u{1b}'), "the control: it is there: {blocks:?}");
}

/// A twin: letters of other scripts are letters.
#[test]
fn other_scripts_are_shown_as_they_are() {
    let home = scene("echo 'größer 大きい أكبر 🙂' > made; rm -r victim");
    put_data(&home, "gates.yaml", "[]\n");
    home.run(&[]).run().expect(3);
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    assert!(inbox.contains("größer 大きい أكبر 🙂"), "{inbox}");
}
