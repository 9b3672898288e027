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

#[cfg(test)]
mod tests {
    use super::*;

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
