//! Base64 back to bytes: the browser's pictures come in it. Anything but the plain alphabet is no picture.

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes() {
        bits = bits << 6 | u32::from(value(letter)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
        bits &= (1 << held) - 1;
    }
    Some(bytes)
}

const fn value(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let check = |text: &str, expected: &[u8]| assert_eq!(decode(text).as_deref(), Some(expected), "{text}");
        check("", b"");
        check("aA==", b"h");
        check("aGk=", b"hi");
        check("aGkh", b"hi!");
        check("/+8A", &[0xff, 0xef, 0]);
        assert_eq!(decode("aG k"), None);
        assert_eq!(decode("aGk\u{e9}"), None);
    }
}
