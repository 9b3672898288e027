//! The pictures of a conversation. The journal has their digests; what they show is loaded before the chat is told of them, and
//! kept for as long as the session lasts, because a conversation that is rebuilt is told again.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use windlass_domain::{Digest, Host, Image, Message, Refused};
use windlass_llm::Chat;
use windlass_tools::Picture;

use crate::session::{Ended, Session, Work, ended};

#[derive(Debug, Default)]
pub(crate) struct Pictures {
    shown: BTreeMap<Digest, Arc<[u8]>>,
}

impl Pictures {
    /// Gives the chat what the message shows.
    pub fn show(&self, message: &Message, chat: &mut dyn Chat) {
        for image in message.images() {
            if let Some(bytes) = self.shown.get(&image.digest) {
                chat.show(image.digest, Arc::clone(bytes));
            }
        }
    }

    async fn load(&mut self, image: &Image, host: &dyn Host) -> Result<(), Refused> {
        if let Entry::Vacant(place) = self.shown.entry(image.digest) {
            place.insert(host.blob_get(image.digest).await?.into());
        }
        Ok(())
    }
}

impl Session<'_> {
    /// What the transcript has gained.
    pub(crate) async fn load_pictures(&mut self) -> Result<(), Ended> {
        let state = self.work.host.state();
        let new = state.transcript.iter().skip(self.heard).flat_map(|message| message.images());
        let new: Vec<Image> = new.filter(|image| !self.pictures.shown.contains_key(&image.digest)).cloned().collect();
        drop(state);
        if !new.is_empty() {
            // What the last call shows can be had once its result is committed.
            self.work.host.record(Vec::new()).await.map_err(ended)?;
        }
        for image in &new {
            self.pictures.load(image, self.work.host.as_ref()).await.map_err(ended)?;
        }
        Ok(())
    }
}

impl Work<'_> {
    /// Keeps what a tool shows. A picture that is none after all is left out: its text says what it was meant to be.
    pub(crate) async fn keep_pictures(&self, pictures: Vec<Picture>) -> Result<Vec<Image>, Ended> {
        let mut images = Vec::with_capacity(pictures.len());
        for Picture { name, bytes } in pictures {
            let kept = self.host.blob_put(bytes).await.map_err(ended)?;
            images.extend(Image::describing(name, &kept.bytes, kept.digest));
        }
        Ok(images)
    }
}
