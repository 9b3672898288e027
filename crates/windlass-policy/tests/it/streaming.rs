//! A text in pieces gives the same as the text at once, whatever the pieces, and little is held back meanwhile.

use proptest::prelude::*;
use windlass_policy::{MARKER, Redactor};

use crate::texts::{REDACTOR, SECRETS, credentials, redactor, text};

fn in_pieces(redactor: &Redactor, text: &[u8], mut cuts: Vec<usize>) -> Vec<u8> {
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    for pair in cuts.windows(2) {
        stream.push(&text[pair[0]..pair[1]], &mut out);
        assert!(stream.held() <= stream.most_held(), "{} bytes are held back", stream.held());
    }
    stream.finish(&mut out);
    out
}

#[test]
fn every_cut_in_two_and_every_single_byte_gives_the_same() {
    let redactor = redactor(&SECRETS);
    let mut texts: Vec<String> = credentials().into_iter().map(|credential| format!("x {credential} y")).collect();
    texts.extend(SECRETS.map(|secret| format!("<{secret}{secret}>")));
    texts.push("see https://user:p@ss@host/a and https://user:word@host/b".to_owned());
    texts.push("Authorization: Basic dXNlcjpwYXNz\nauthorization=\"token abcdef0123\"".to_owned());
    for text in texts {
        let whole = redactor.redact_bytes(text.as_bytes()).into_owned();
        for cut in 0..=text.len() {
            let pieces = in_pieces(&redactor, text.as_bytes(), vec![cut]);
            assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole), "cut at {cut}");
        }
        let bytes = in_pieces(&redactor, text.as_bytes(), (0..text.len()).collect());
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&whole));
    }
}

#[test]
fn long_rows_of_backslashes_are_counted_across_pieces() {
    // The secret `nabcdefgh` stands behind a backslash of its own or inside an escape, as the row is even or odd.
    for row in 0..80 {
        let text = format!("\"{}nabcdefgh\"", "\\".repeat(row));
        let whole = REDACTOR.redact(&text);
        let kept = "\\".repeat(row - row % 2);
        assert_eq!(whole, format!("\"{kept}{MARKER}\""), "{row}");
        for size in [1, 3, 7] {
            let pieces = in_pieces(&REDACTOR, text.as_bytes(), (0..text.len()).step_by(size).collect());
            assert_eq!(String::from_utf8_lossy(&pieces), whole, "{row} in pieces of {size}");
        }
    }
}

#[test]
fn a_region_that_ends_in_a_row_of_backslashes_takes_an_escaped_quote_with_it() {
    for row in 0..80 {
        let slashes = "\\".repeat(row);
        let text = format!("-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA7bq2{slashes}\"x");
        let rest = if row % 2 == 0 { "\"x" } else { "x" };
        for size in [1, 3, 7, 1_000] {
            let pieces = in_pieces(&REDACTOR, text.as_bytes(), (0..text.len()).step_by(size).collect());
            let expected = format!("{MARKER}{rest}");
            assert_eq!(String::from_utf8_lossy(&pieces), expected, "{row} in pieces of {size}");
        }
    }
}

#[test]
fn ordinary_output_is_not_held_back_at_all() {
    let mut stream = redactor(&SECRETS).stream();
    for line in
        ["Compiling serde v1.0.229\n", "running 12 tests\n", "test result: ok. 12 passed; 0 failed\n", "progress 99%"]
    {
        let mut out = Vec::new();
        stream.push(line.as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), line);
    }
}

#[test]
fn an_endless_token_is_replaced_as_soon_as_it_is_recognised_and_needs_no_memory() {
    let mut stream = redactor(&[]).stream();
    let mut out = Vec::new();
    stream.push(b"key ghp_", &mut out);
    for _ in 0..1_000 {
        stream.push(&[b'a'; 1_000], &mut out);
    }
    assert_eq!(out, format!("key {MARKER}").as_bytes());
    assert!(stream.held() <= 16, "{}", stream.held());
    stream.push(b"! done", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, format!("key {MARKER}! done").as_bytes());
}

#[test]
fn bytes_that_are_not_text_come_through() {
    let bytes: Vec<u8> = (0..=255).chain(b"ghp_".iter().copied()).chain((0..=255).rev()).collect();
    assert_eq!(in_pieces(&redactor(&SECRETS), &bytes, vec![3, 200, 257, 300]), bytes);
}

#[test]
fn texts_made_to_be_slow_are_not() {
    let redactor = redactor(&["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]);
    for unit in [
        "a",
        "sk-a1b2c3",
        "eyJ-",
        "://a:",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\\",
        "\\",
        "\\u004",
        "Authorization: ",
    ] {
        let text = unit.repeat(60_000 / unit.len());
        let whole = redactor.redact_bytes(text.as_bytes()).into_owned();
        let pieces = in_pieces(&redactor, text.as_bytes(), (0..text.len()).step_by(997).collect());
        assert!(whole == pieces, "{unit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pieces_make_no_difference(text in text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let cuts = cuts.into_iter().map(|cut| cut.index(text.len() + 1)).collect();
        let pieces = in_pieces(&REDACTOR, text.as_bytes(), cuts);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), REDACTOR.redact(&text));
    }

    #[test]
    fn single_bytes_make_no_difference(text in text()) {
        let pieces = in_pieces(&REDACTOR, text.as_bytes(), (0..text.len()).collect());
        prop_assert_eq!(String::from_utf8_lossy(&pieces), REDACTOR.redact(&text));
    }
}
