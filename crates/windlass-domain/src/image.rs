//! Pictures that a conversation refers to. What they show is kept as a blob; here is what can be known without looking at it:
//! its kind and its size, and whether it is all there. Nothing is decoded.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The kinds that every provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaType {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/webp")]
    Webp,
}

/// A picture as a message refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// What a person would call it: a file's name.
    pub name: String,
    pub media_type: MediaType,
    pub bytes: u64,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    pub digest: Digest,
}

impl MediaType {
    /// By its first bytes, because names lie.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// Whether its end is there. Some programs leave something behind it.
    fn is_whole(self, bytes: &[u8]) -> bool {
        let tail = &bytes[bytes.len().saturating_sub(1_024)..];
        let ends_with = |mark: &[u8]| tail.windows(mark.len()).any(|window| window == mark);
        match self {
            Self::Png => ends_with(b"IEND"),
            Self::Jpeg => ends_with(b"\xff\xd9"),
            Self::Gif => ends_with(b";"),
            Self::Webp => bytes.get(4..8).is_some_and(|length| little(length) as usize + 8 <= bytes.len()),
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

impl Image {
    /// A reference to a picture with this content, which is kept under `digest`. What is cut off or has no size is none: a
    /// provider that cannot read one picture refuses the whole conversation, then and ever after.
    pub fn describing(name: impl Into<String>, bytes: &[u8], digest: Digest) -> Option<Self> {
        let media_type = MediaType::of(bytes).filter(|kind| kind.is_whole(bytes))?;
        let (width, height) = dimensions(media_type, bytes).filter(|(width, height)| *width > 0 && *height > 0)?;
        Some(Self { name: name.into(), media_type, bytes: bytes.len() as u64, width, height, digest })
    }

    pub fn is_one(bytes: &[u8]) -> bool {
        Self::describing("", bytes, Digest::of(b"")).is_some()
    }

    /// For who cannot see it.
    pub fn in_words(&self) -> String {
        let Self { name, media_type, bytes, width, height, .. } = self;
        format!("[image: {name}, {}, {width} × {height} pixels, {bytes} bytes]", media_type.as_str())
    }
}

fn dimensions(media_type: MediaType, bytes: &[u8]) -> Option<(u32, u32)> {
    match media_type {
        MediaType::Png => Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?))),
        MediaType::Gif => Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?))),
        MediaType::Jpeg => of_jpeg(bytes),
        MediaType::Webp => of_webp(bytes),
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Segment by segment to the one that begins the picture itself.
fn of_jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker, ..] = *bytes.get(at..at + 4)? else { return None };
        let length = big(bytes.get(at + 2..at + 4)?) as usize;
        // Of the sixteen, three are tables and no beginning.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some((big(bytes.get(at + 7..at + 9)?), big(bytes.get(at + 5..at + 7)?)));
        }
        at += 2 + length.max(2);
    }
}

/// Lossy, lossless and extended files each say it in their own way.
fn of_webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes.get(26..28)?) & 0x3fff, little(bytes.get(28..30)?) & 0x3fff)),
        b"VP8L" => {
            let packed = little(bytes.get(21..25)?);
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: &str) {
        let image = Image::describing("a", bytes, Digest::of(bytes)).expect("a picture");
        assert_eq!(image.in_words(), expect);
        for end in 0..bytes.len() {
            assert!(!Image::is_one(&bytes[..end]), "{end} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn kinds_and_sizes_are_read_from_the_first_bytes_and_wholeness_from_the_last() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\0\0\0\0IEND";
        check(png, "[image: a, image/png, 640 × 480 pixels, 32 bytes]");
        check(b"GIF89a\x03\0\x05\0;", "[image: a, image/gif, 3 × 5 pixels, 11 bytes]");
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x02\xff\xc2\0\x0b\x08\x01\xe0\x02\x80\x03\xff\xd9";
        check(jpeg, "[image: a, image/jpeg, 640 × 480 pixels, 24 bytes]");
        let lossless = b"RIFF\x11\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\x00";
        check(lossless, "[image: a, image/webp, 640 × 480 pixels, 25 bytes]");
        let extended = b"RIFF\x16\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        check(extended, "[image: a, image/webp, 640 × 480 pixels, 30 bytes]");
    }

    #[test]
    fn what_nobody_could_see_is_no_picture() {
        assert!(!Image::is_one(b"GIF89a\0\0\x05\0;"), "it has no width");
        assert!(!Image::is_one(b"BM;") && !Image::is_one(b""));
    }
}
