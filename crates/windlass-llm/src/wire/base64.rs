//! Bytes as letters, in which all providers take pictures.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes`, padded.
pub fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letter = |place: usize| match place <= three.len() {
            true => LETTERS[(bits >> (18 - 6 * place) & 63) as usize],
            false => b'=',
        };
        out.extend([letter(0), letter(1), letter(2), letter(3)]);
    }
}

/// The bytes again; `None` where it is no base64. Line ends within it and a missing end are forgiven.
pub fn from_base64(letters: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in unpadded(letters.trim_ascii_end()) {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\r' | b'\n' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("eight bits"));
        }
    }
    (count < 6).then_some(bytes)
}

fn unpadded(letters: &[u8]) -> &[u8] {
    let once = letters.strip_suffix(b"=").unwrap_or(letters);
    once.strip_suffix(b"=").unwrap_or(once)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_can_be_read() {
        for length in 0..70_u8 {
            let bytes = (0..length).map(|byte| byte.wrapping_mul(37) ^ 0xa5).collect::<Vec<_>>();
            let mut letters = Vec::new();
            base64(&mut letters, &bytes);
            assert_eq!(from_base64(&letters), Some(bytes));
        }
        assert_eq!(from_base64(b"Zm9v\r\nYmFy\n"), Some(b"foobar".to_vec()));
        for broken in [&b"Zm9v!"[..], b"Z", b"Zm=9v", b"Zg==="] {
            assert_eq!(from_base64(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn the_vectors_of_rfc_4648() {
        let check = |bytes: &[u8], expect: &str| {
            let mut out = Vec::new();
            base64(&mut out, bytes);
            assert_eq!(String::from_utf8(out).expect("letters"), expect);
        };
        check(b"", "");
        check(b"f", "Zg==");
        check(b"fo", "Zm8=");
        check(b"foo", "Zm9v");
        check(b"foobar", "Zm9vYmFy");
        check(b"\xfb\xff", "+/8=");
    }
}
