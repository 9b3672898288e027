//! What a program asks its terminal, and what nobody may make it say.

use windlass_terminal::{Screen, Size};

use crate::stage::{SMALL, play, stage};

fn answers(text: &str) -> String {
    Screen::new(SMALL).feed(text)
}

/// Regression: nothing of it was left for who reads a recording, or what stood last on a screen that was quit.
#[test]
fn what_stood_on_a_page_of_the_programs_own_is_known_after_it_has_left_it() {
    let mut screen = Screen::new(SMALL);
    assert_eq!(screen.page(), [""; 0]);
    screen.feed("before\u{1b}[?1049h\u{1b}[2J\u{1b}[1;1Hits own");
    assert_eq!((screen.page()[0].as_str(), screen.history()[0].as_str()), ("its own", "before"));
    for piece in ["\u{1b}[?10", "49", "lafter"] {
        screen.feed(piece);
    }
    assert_eq!((screen.page()[0].as_str(), screen.text()[0].as_str()), ("its own", "beforeafter"));
    // One that is wiped before says nothing.
    screen.feed("\u{1b}[?1049h\u{1b}[2J\u{1b}[?1049l");
    assert_eq!(screen.page()[0], "its own");
}

#[test]
fn it_says_where_the_cursor_is_at_that_moment() {
    assert_eq!(answers("ab\x1b[6ncd\r\n\x1b[6n"), "\x1b[1;3R\x1b[2;1R");
    // At the end of a line it stands on the last letter.
    assert_eq!(Screen::new(Size { cols: 3, rows: 1 }).feed("abc\x1b[6n"), "\x1b[1;3R");
}

#[test]
fn it_says_what_it_is() {
    assert_eq!(answers("\x1b[c"), "\x1b[?62;22c");
    assert_eq!(answers("\x1b[0c"), answers("\x1b[c"));
    assert_eq!(answers("\x1b[5n"), "\x1b[0n");
    assert!(answers("\x1b]11;?\x07").starts_with("\x1b]11;rgb:"));
    assert_eq!(answers("\x1b]11;?\x1b\\"), answers("\x1b]11;?\x07"));
    assert!(answers("\x1b]10;?\x1b\\").starts_with("\x1b]10;rgb:"));
}

#[test]
fn a_question_may_come_in_pieces() {
    let mut screen = Screen::new(SMALL);
    let said: String = ["\x1b", "[", "6", "n"].iter().map(|piece| screen.feed(piece)).collect();
    assert_eq!(said, "\x1b[1;1R");
}

#[test]
fn nothing_else_is_answered() {
    let silent = [
        "6n",
        "\x1b6n",
        "\x1b[>c",
        "\x1b[?6n",
        "\x1b[16n",
        // The title, which a program could have set to anything.
        "\x1b]0;evil\x07\x1b[21t",
        "\x1b]52;c;?\x07",
        "\x1bP$qm\x1b\\",
        "\x1b[6\x18n",
        "\x1b[6\x1b]n\x07",
        "\x1b]11;?\x1b[",
    ];
    for text in silent {
        assert_eq!(answers(text), "", "{text:?}");
    }
    assert_eq!(answers(&format!("\x1b[{}6n", "0".repeat(10_000))), "");
}

#[test]
fn the_program_reads_the_answer() {
    play(async {
        let mut stage = stage(|options| options);
        stage.print("ab\x1b[6n").await;
        assert_eq!(stage.hear(6).await, "\x1b[1;3R");
    });
}
