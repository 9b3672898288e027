//! Bytes of a file as text, or why they are none. UTF-8 is taken as it is; other encodings are guessed and said; what
//! looks like no text at all is named by what it seems to be.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// `encoding` is the name of what it was decoded from, `None` for plain UTF-8.
    Text {
        text: String,
        encoding: Option<&'static str>,
    },
    Binary {
        kind: &'static str,
    },
}

/// How much of a file is looked at to tell text from data.
const LOOKED_AT: usize = 8 * 1024;

pub(crate) fn content(bytes: Vec<u8>) -> Content {
    if let Some((encoding, _)) = Encoding::for_bom(&bytes) {
        let name = if encoding == UTF_8 { "UTF-8 with a byte order mark" } else { encoding.name() };
        return Content::Text { text: decode(encoding, &bytes), encoding: Some(name) };
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    if let Some(kind) = signature(head) {
        return Content::Binary { kind };
    }
    if head.contains(&0) {
        return match utf16_without_mark(head) {
            Some(encoding) => Content::Text { text: decode(encoding, &bytes), encoding: Some(encoding.name()) },
            None => Content::Binary { kind: "binary data" },
        };
    }
    match String::from_utf8(bytes) {
        Ok(text) => Content::Text { text, encoding: None },
        Err(not_utf8) => guessed(not_utf8.as_bytes()),
    }
}

fn guessed(bytes: &[u8]) -> Content {
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let odd = head.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    if odd * 20 > head.len() {
        return Content::Binary { kind: "binary data" };
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    // Almost UTF-8: a few bad bytes are shown as such, rather than the rest being read as something else.
    let name = if encoding == UTF_8 { "UTF-8 with invalid bytes" } else { encoding.name() };
    Content::Text { text: decode(encoding, bytes), encoding: Some(name) }
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_with_bom_removal(bytes).0.into_owned()
}

/// Latin text in UTF-16 has a zero in nearly every other byte, always on the same side.
fn utf16_without_mark(head: &[u8]) -> Option<&'static Encoding> {
    let zeros = |parity: usize| head.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), head.len() / 2);
    if half == 0 {
        None
    } else if odd * 10 > half * 7 && even * 20 < half {
        Some(UTF_16LE)
    } else if even * 10 > half * 7 && odd * 20 < half {
        Some(UTF_16BE)
    } else {
        None
    }
}

fn signature(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 12] = [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or a format built on it, such as docx or jar)"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\xfd7zXZ\x00", "an xz archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"\x7fELF", "an ELF executable or library"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"\x00asm", "a WebAssembly module"),
        (b"BZh", "a bzip2 archive"),
    ];
    let kind = KNOWN.iter().find(|(start, _)| head.starts_with(start)).map(|(_, kind)| *kind)?;
    // A text may begin with three innocent letters.
    (kind != "a bzip2 archive" || std::str::from_utf8(head).is_err()).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], expected: &str, encoding: Option<&'static str>) {
        assert_eq!(content(bytes.to_vec()), Content::Text { text: expected.to_owned(), encoding });
    }

    #[test]
    fn encodings_are_told_apart_and_named() {
        text("plain é".as_bytes(), "plain é", None);
        text(b"", "", None);
        text(b"\xef\xbb\xbfmarked", "marked", Some("UTF-8 with a byte order mark"));
        text(b"\xff\xfeh\0i\0", "hi", Some("UTF-16LE"));
        text(b"\xfe\xff\0h\0i", "hi", Some("UTF-16BE"));
        text(b"h\0e\0l\0l\0o\0\n\0", "hello\n", Some("UTF-16LE"));
        text(b"\0h\0e\0l\0l\0o\0\n", "hello\n", Some("UTF-16BE"));
        text(b"Gr\xfc\xdfe aus M\xfcnchen, sch\xf6n", "Grüße aus München, schön", Some("windows-1252"));
        text(b"BZh is how some words begin", "BZh is how some words begin", None);
    }

    #[test]
    fn data_is_not_shown_as_text() {
        let binary = |bytes: &[u8], expected: &str| match content(bytes.to_vec()) {
            Content::Binary { kind } => assert_eq!(kind, expected),
            Content::Text { text, .. } => panic!("taken for text: {text}"),
        };
        binary(b"\x89PNG\r\n\x1a\n....", "a PNG image");
        binary(b"\x7fELF\x02\x01\x01", "an ELF executable or library");
        binary(b"\x00\x01\x02\x03\x04\x05\x06\x07", "binary data");
        binary(b"\xfe\x01\x02\x03\x04\xf5\x06\x07\x11\x12\x13", "binary data");
    }
}
