//! From the bytes of an answer to its text: decompressed, but never to more than a bound, and decoded by what was declared
//! where that fits and by what it looks like where it does not.

use std::io::{self, Read};

use encoding_rs::Encoding;

use crate::text::{Content, content};

pub const ACCEPTED: &str = "gzip, deflate, br";

/// What was unpacked, and whether there was more.
pub fn unpacked(body: Vec<u8>, encoding: &str, most_bytes: usize) -> Result<(Vec<u8>, bool), String> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok((body, false)),
        "gzip" | "x-gzip" => read(flate2::read::MultiGzDecoder::new(body.as_slice()), most_bytes),
        // Some servers leave out the wrapping that the name promises.
        "deflate" => read(flate2::read::ZlibDecoder::new(body.as_slice()), most_bytes)
            .or_else(|_| read(flate2::read::DeflateDecoder::new(body.as_slice()), most_bytes)),
        "br" => read(brotli_decompressor::Decompressor::new(body.as_slice(), 4096), most_bytes),
        other => Err(format!("the answer is packed as `{}`, which is not read here", other.escape_debug())),
    }
}

fn read(mut unpacking: impl Read, most_bytes: usize) -> Result<(Vec<u8>, bool), String> {
    let mut bytes = Vec::new();
    let most = u64::try_from(most_bytes).unwrap_or(u64::MAX);
    let ended = unpacking.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
    let is_cut = bytes.len() > most_bytes;
    bytes.truncate(most_bytes);
    match ended {
        Ok(_) => Ok((bytes, is_cut)),
        // What came before the end was cut off is good.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !bytes.is_empty() => Ok((bytes, true)),
        Err(error) => Err(format!("the answer cannot be unpacked ({error})")),
    }
}

/// The text, or what the bytes are instead. What is not UTF-8 is read as it was declared, where that makes sense of all of it;
/// otherwise as it looks.
pub fn text(bytes: Vec<u8>, declared: Option<&str>) -> Result<String, &'static str> {
    let declared = declared.and_then(|label| Encoding::for_label(label.trim_matches(['"', '\'', ' ']).as_bytes()));
    let as_declared = declared.filter(|_| std::str::from_utf8(&bytes).is_err()).and_then(|encoding| {
        let (text, _, is_garbled) = encoding.decode(&bytes);
        (!is_garbled).then(|| text.into_owned())
    });
    match content(bytes) {
        Content::Binary { kind } => Err(kind),
        Content::Text { text, .. } => Ok(as_declared.unwrap_or(text)),
    }
}

/// What a page says of itself in its first kilobyte: `<meta charset=…>` in either of its forms.
pub fn declared_in_html(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1_024)]).to_ascii_lowercase();
    let after = head.split_once("charset=")?.1.trim_start_matches(['"', '\'']);
    let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_'))?;
    Some(after[..end].to_owned()).filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packing.write_all(bytes).expect("into memory");
        packing.finish().expect("into memory")
    }

    #[test]
    fn what_is_packed_is_unpacked_up_to_a_bound() {
        assert_eq!(unpacked(gzip(b"hello"), "GZip", 100), Ok((b"hello".to_vec(), false)));
        assert_eq!(unpacked(gzip(b"hello"), "gzip", 3), Ok((b"hel".to_vec(), true)));
        let bomb = gzip(&vec![0; 8 << 20]);
        assert!(bomb.len() < 100_000);
        assert_eq!(unpacked(bomb, "gzip", 1_000).map(|(bytes, is_cut)| (bytes.len(), is_cut)), Ok((1_000, true)));
        let whole = gzip(&b"hello ".repeat(1_000));
        let (start, is_cut) = unpacked(whole[..whole.len() - 9].to_vec(), "gzip", 100_000).expect("what came");
        assert!(is_cut && start.starts_with(b"hello hello"));
        assert!(unpacked(b"not packed".to_vec(), "gzip", 100).is_err());
        assert!(unpacked(b"not packed".to_vec(), "br", 100).is_err());
        assert!(unpacked(gzip(b"x"), "gzip, gzip", 100).is_err());
        assert!(unpacked(b"x".to_vec(), "zstd\u{1b}", 100).unwrap_err().contains("\\u{1b}"));
    }

    #[test]
    fn what_was_declared_counts_where_it_fits() {
        let cyrillic = b"\xcf\xf0\xe8\xe2\xe5\xf2".to_vec();
        assert_eq!(text(cyrillic.clone(), Some("windows-1251")).as_deref(), Ok("Привет"));
        assert_eq!(text("Grüße".into(), Some("latin1")).as_deref(), Ok("Grüße"), "it is UTF-8, whatever it says");
        assert_eq!(
            text(b"Gr\xfc\xdfe aus M\xfcnchen, sch\xf6n".to_vec(), Some("utf-8")).as_deref(),
            Ok("Grüße aus München, schön")
        );
        assert!(text(cyrillic, Some("no-such-thing")).is_ok());
        assert_eq!(text(b"%PDF-1.7".to_vec(), Some("utf-8")), Err("a PDF document"));
    }

    #[test]
    fn a_page_says_what_it_is_written_in() {
        let check = |html: &str, expected: Option<&str>| {
            assert_eq!(declared_in_html(html.as_bytes()).as_deref(), expected, "{html}");
        };
        check("<meta charset=\"windows-1251\">", Some("windows-1251"));
        check("<meta http-equiv=content-type content='text/html; CHARSET=koi8-r'>", Some("koi8-r"));
        check("<p>charset=", None);
        check("<p>nothing", None);
    }
}
