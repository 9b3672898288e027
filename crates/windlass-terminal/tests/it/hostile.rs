//! Programs that mean harm: whatever they print, a person's own terminal gets letters, colours and places.

use windlass_terminal::{Painter, Screen, Size};

use crate::stage::SMALL;

fn painted(text: &str) -> String {
    let mut screen = Screen::new(SMALL);
    screen.feed(text);
    Painter::default().paint(&screen)
}

/// Every control sequence in it, without its numbers.
fn sequences(painted: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = painted.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            assert!(!letter.is_control(), "{letter:?} in {painted:?}");
            continue;
        }
        let mut sequence = letters.next().map(String::from).expect("something follows");
        for next in letters.by_ref() {
            if !next.is_ascii_digit() && next != ';' {
                sequence.push(next);
            }
            if next.is_ascii_alphabetic() {
                break;
            }
        }
        found.push(sequence);
    }
    found
}

#[test]
fn only_colours_places_and_wiping_are_painted() {
    let harmful = [
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]0;rm -rf\x07",
        "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
        "\x1b[6n\x1b[c\x1b[21t\x1b[?1000h\x1b[?2004h\x1b[8;100;100t",
        "\x1bP+q544e\x1b\\",
        "\x1b_Ga=T;AAAA\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bc\x1b[!p",
        "\u{9d}0;title\u{9c}",
        "\x1b[5i\x1b[4i",
        "\x07\x05\x0e\x0f",
        "a\u{202e}txt.exe\u{2066}",
    ];
    let allowed = ["[H", "[m", "[J", "[K", "[?h", "[?l"];
    for text in harmful {
        let painted = painted(&format!("{text}fine\x1b[31mred"));
        for sequence in sequences(&painted) {
            assert!(allowed.contains(&sequence.as_str()), "{sequence:?} after {text:?}");
        }
        // To hide the cursor, and to be told what is pasted.
        for mode in painted.split("\u{1b}[?").skip(1) {
            let passed_on = ["25h", "25l", "2004h", "2004l"];
            assert!(passed_on.iter().any(|switch| mode.starts_with(switch)), "{mode:?} after {text:?}");
        }
        assert!(painted.contains("fine"), "{text:?}: {painted:?}");
        assert!(!painted.contains(['\u{202e}', '\u{2066}']), "{painted:?}");
    }
}

#[test]
fn a_sequence_that_never_ends_swallows_only_its_own() {
    let mut screen = Screen::new(SMALL);
    screen.feed("\x1b]52;c;");
    for _ in 0..1_000 {
        screen.feed(&"A".repeat(10_000));
    }
    screen.feed("\x07back");
    assert_eq!(screen.text()[0], "back");
}

#[test]
fn an_endless_line_takes_no_more_than_there_is_room_for() {
    let mut screen = Screen::new(SMALL);
    for _ in 0..1_000 {
        screen.feed(&"x".repeat(1_000));
    }
    assert_eq!(screen.text(), vec!["x".repeat(20); 4]);
    assert!(screen.history().len() <= 2_004, "{}", screen.history().len());
}

#[test]
fn sizes_are_within_bounds() {
    let mut screen = Screen::new(Size { cols: 0, rows: 0 });
    screen.feed("a");
    screen.resize(Size { cols: u16::MAX, rows: u16::MAX });
    assert_eq!(screen.size(), Size { cols: 1_000, rows: 500 });
    // A program does not change the size of what it runs in.
    screen.feed("\x1b[8;10;10t\x1b[?3h");
    assert_eq!(screen.size(), Size { cols: 1_000, rows: 500 });
}

/// What a person sees is what the emulator shows: painted into another emulator it is the same, however it came about.
#[test]
fn what_is_painted_is_what_is_there() {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut dice = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let pieces = [
        "word ",
        "界",
        "\r\n",
        "\t",
        "\x1b[31m",
        "\x1b[1;44m",
        "\x1b[0m",
        "\x1b[2J",
        "\x1b[H",
        "\x1b[K",
        "\x1b[3;5H",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[L",
        "\x1b[M",
        "\x1b[@",
        "\x1b[P",
        "\x1b[?25l",
        "\x1b[?25h",
        "\x1b[?2004h",
        "\x1b[?2004l",
        "\x1b[38;2;1;2;3m",
        "\x1b[7m",
        "é",
        "\x1b[5S",
    ];
    for _ in 0..300 {
        let (mut screen, mut copy, mut painter) = (Screen::new(SMALL), Screen::new(SMALL), Painter::default());
        for _ in 0..20 {
            for _ in 0..dice(6) {
                let piece = pieces[usize::try_from(dice(pieces.len() as u64)).unwrap()];
                screen.feed(piece);
            }
            copy.feed(&painter.paint(&screen));
            assert_eq!(copy.text(), screen.text());
            assert_eq!(copy.wants_bracketed_pastes(), screen.wants_bracketed_pastes());
            assert_eq!(Painter::default().paint(&copy), Painter::default().paint(&screen));
            assert_eq!(painter.paint(&screen), "", "nothing has changed");
        }
    }
}
