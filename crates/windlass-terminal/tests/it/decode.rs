//! Text from bytes, wherever they are cut.

use windlass_terminal::Decoder;

#[test]
fn a_letter_may_come_in_pieces() {
    let text = "aé界🦀z";
    for size in 1..=text.len() {
        let mut decoder = Decoder::default();
        let read: String = text.as_bytes().chunks(size).map(|piece| decoder.feed(piece)).collect();
        assert_eq!(read + &decoder.finish(), text, "in pieces of {size}");
    }
}

#[test]
fn what_is_no_text_is_marked_and_nothing_waits_for_it() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"a\xffb\xc3"), "a\u{fffd}b");
    assert_eq!(decoder.feed(b"c"), "\u{fffd}c");
    assert_eq!(decoder.feed(b"\xf0\x9f"), "");
    assert_eq!(decoder.finish(), "\u{fffd}");
    assert_eq!(decoder.finish(), "");
}
