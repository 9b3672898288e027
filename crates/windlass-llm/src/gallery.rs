//! Which pictures of a conversation its model is shown, and which it is only told of: models without eyes, pictures that
//! no provider takes, and more of them than fit into a request. A picture that was shown stays, since the beginning of a
//! request never changes; so it is the later ones that are told.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_domain::{Digest, Image, MediaType, Message, ToolResult};

/// Of more than twenty in a request Anthropic refuses those of more than 2,000 pixels.
pub const MOST_PICTURES: usize = 20;
/// All of them together. Requests of more than 32 MB are refused, and each three bytes are sent as four letters.
const MOST_BYTES: u64 = 15 << 20;
/// Each. Anthropic takes five million letters.
pub const LARGEST: usize = 3_750_000;
const WIDEST: u32 = 8_000;

/// What a picture shows, at hand.
#[derive(Debug, Clone)]
pub struct Picture {
    pub media_type: MediaType,
    pub bytes: Arc<[u8]>,
}

#[derive(Debug, Default)]
pub struct Gallery {
    model_sees: bool,
    /// Given for the message that comes next.
    given: BTreeMap<Digest, Arc<[u8]>>,
    shown: usize,
    shown_bytes: u64,
}

impl Gallery {
    pub fn new(model_sees: bool) -> Self {
        Self { model_sees, ..Self::default() }
    }

    pub fn give(&mut self, digest: Digest, bytes: Arc<[u8]>) {
        self.given.insert(digest, bytes);
    }

    /// The message with nothing but the pictures that are shown; of the others it tells. With it, what each shows.
    pub fn hang<'m>(&mut self, message: &'m Message) -> (Cow<'m, Message>, Vec<Picture>) {
        let (mut pictures, mut shown, mut told) = (Vec::new(), Vec::new(), String::new());
        for image in message.images() {
            match self.look(image) {
                Ok(picture) => {
                    pictures.push(picture);
                    shown.push(image.clone());
                }
                Err(why) => told.push_str(&format!("\n\n{} {why}", image.in_words())),
            }
        }
        self.given.clear();
        if told.is_empty() {
            return (Cow::Borrowed(message), pictures);
        }
        (Cow::Owned(with(message, shown, &told)), pictures)
    }

    fn look(&mut self, image: &Image) -> Result<Picture, &'static str> {
        let bytes = self.given.get(&image.digest).filter(|_| self.model_sees);
        let bytes = bytes.ok_or("(not shown: this model cannot see images)")?;
        if image.bytes > LARGEST as u64 || image.width.max(image.height) > WIDEST {
            return Err("(not shown: it is too large; make it smaller to see it)");
        }
        if self.shown == MOST_PICTURES || self.shown_bytes + image.bytes > MOST_BYTES {
            return Err("(not shown: this conversation has as many images as can be sent)");
        }
        let picture = Picture { media_type: image.media_type, bytes: Arc::clone(bytes) };
        self.shown += 1;
        self.shown_bytes += image.bytes;
        Ok(picture)
    }
}

fn with(message: &Message, images: Vec<Image>, told: &str) -> Message {
    let said = |text: &str| format!("{text}{told}").trim_start().to_owned();
    match message {
        Message::User { text, .. } => Message::User { text: said(text), images },
        Message::Tool(result) => Message::Tool(ToolResult { content: said(&result.content), images, ..result.clone() }),
        Message::Assistant { .. } => message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str, bytes: u64, width: u32) -> Image {
        let digest = Digest::of(name.as_bytes());
        Image { name: name.into(), media_type: MediaType::Png, bytes, width, height: 1, digest }
    }

    /// What is said and how many pictures are shown, of a message with these.
    fn hang(gallery: &mut Gallery, images: &[Image]) -> (String, usize) {
        for image in images {
            gallery.give(image.digest, Arc::from([7_u8]));
        }
        let message = Message::User { text: "look".into(), images: images.to_vec() };
        let (message, pictures) = gallery.hang(&message);
        assert_eq!(message.images().len(), pictures.len());
        let Message::User { text, .. } = message.into_owned() else { panic!("the same kind of message") };
        (text, pictures.len())
    }

    #[test]
    fn what_cannot_be_shown_is_told() {
        let mut gallery = Gallery::new(true);
        assert_eq!(hang(&mut gallery, &[image("a", 9, 9)]), ("look".into(), 1));
        let (text, shown) =
            hang(&mut gallery, &[image("big", LARGEST as u64 + 1, 9), image("b", 9, 9), image("wide", 9, 8_001)]);
        assert_eq!(shown, 1);
        assert!(text.starts_with("look\n\n[image: big, image/png, 9 × 1 pixels, 3750001 bytes] (not shown"), "{text}");
        assert!(text.contains("[image: wide") && !text.contains("[image: b,"), "{text}");
        let (text, shown) = hang(&mut Gallery::new(false), &[image("a", 9, 9)]);
        assert_eq!((text.contains("this model cannot see images"), shown), (true, 0));
    }

    #[test]
    fn there_is_a_last_one_by_number_and_by_size() {
        let mut gallery = Gallery::new(true);
        let many = vec![image("a", 9, 9); MOST_PICTURES + 3];
        assert_eq!(hang(&mut gallery, &many).1, MOST_PICTURES);
        assert_eq!(hang(&mut gallery, &many[..1]).1, 0);
        let mut gallery = Gallery::new(true);
        let large = vec![image("a", LARGEST as u64, 9); 6];
        let (text, shown) = hang(&mut gallery, &large);
        assert_eq!((shown, text.matches("as many images").count()), (4, 2));
    }
}
