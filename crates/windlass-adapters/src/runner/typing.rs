//! What is typed at a program's screen in a person's name, and how one sees that it stands in the field for messages. Enter is pressed
//! only then: pressed at a question of the program's it would say yes to it.

/// Of a message, what is looked for at its end: enough to know it by, and little enough to be shown whole.
const MOST_LOOKED_FOR: usize = 24;
/// More lines than a clock or a turning wheel changes, and fewer than a question that goes away.
const ANOTHER_SCREEN: usize = 3;

/// As a person would paste it: no key is in it, so that it does nothing but stand there until Enter is pressed.
pub fn pasted(text: &str, is_bracketed: bool) -> String {
    let plain = |letter: char| match letter {
        '\n' if is_bracketed => '\n',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    let text: String = text.trim().chars().map(plain).collect();
    if is_bracketed { format!("\u{1b}[200~{text}\u{1b}[201~") } else { text }
}

/// Whether the screen shows the message once more than before, or that something long was pasted, as all of them do.
pub fn stands(text: &str, before: &[String], after: &[String]) -> bool {
    let (before, after) = (letters(before), letters(after));
    let text = letters(&[text.to_owned()]);
    let skipped = text.chars().count().saturating_sub(MOST_LOOKED_FOR);
    let end: String = text.chars().skip(skipped).collect();
    [end.as_str(), "[Paste"].iter().any(|words| {
        let shown = |screen: &str| screen.matches(words).count();
        !words.is_empty() && shown(&after) > shown(&before)
    })
}

/// Whether what a message was not typed into has gone.
pub fn is_another(before: &[String], after: &[String]) -> bool {
    let lines = before.len().max(after.len());
    (0..lines).filter(|line| before.get(*line) != after.get(*line)).count() >= ANOTHER_SCREEN
}

/// Without spaces and frames, which stand wherever a field breaks its lines.
fn letters(lines: &[String]) -> String {
    let is_frame = |letter: char| matches!(letter, '\u{2500}'..='\u{259f}' | '|');
    lines.iter().flat_map(|line| line.chars()).filter(|letter| !letter.is_whitespace() && !is_frame(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_another, pasted, stands};

    fn screen(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_message_is_pasted_and_presses_no_key() {
        assert_eq!(pasted(" a\nb\u{1b}[201~\u{3}c\r\n", true), "\u{1b}[200~a\nb [201~ c\u{1b}[201~");
        assert_eq!(pasted("a\nb\u{1b}c", false), "a b c");
    }

    #[test]
    fn what_stands_in_the_field_is_seen_however_it_is_broken() {
        let before = screen("hello\n│ >                │");
        let after = screen("hello\n│ > how far are    │\n│ you with it?     │");
        assert!(stands("how far are\nyou with it?", &before, &after));
        assert!(stands("hello", &before, &screen("hello\n│ > hello          │")), "once more than before");
        assert!(stands("a\nb", &before, &screen("hello\n> [Pasted text #1 +1 lines]")));
    }

    #[test]
    fn a_question_does_not_show_what_is_typed_at_it() {
        let asked = screen("Do you want to run hello?\n❯ 1. Yes\n  2. No");
        assert!(!stands("hello", &asked, &asked));
        assert!(!stands("", &asked, &asked), "nothing stands nowhere");
        assert!(!is_another(&asked, &screen("Do you want to run hello?\n❯ 1. Yes\n  2. No  ⠋")));
        assert!(is_another(&asked, &screen("✔ ran hello\n\n> ")));
    }
}
