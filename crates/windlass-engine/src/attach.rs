//! Taking in what a user puts beside the goal: text passes the gates as every word of theirs does, a picture is kept as a
//! blob, and the task refers to both.

use windlass_domain::{Attachment, Image, Taint, TaskId};
use windlass_store::{NewBlob, NewEvent};

use crate::Error;
use crate::engine::Engine;

/// An attachment with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    Text { name: String, text: String },
    Picture { name: String, bytes: Vec<u8> },
}

/// Attachments, and what goes with the commit that refers to them.
#[derive(Default)]
pub(crate) struct TakenIn {
    pub attachments: Vec<Attachment>,
    pub blobs: Vec<NewBlob>,
    pub audited: Vec<NewEvent>,
}

impl Engine {
    pub(crate) async fn take_in(&self, task: TaskId, attached: Vec<Attached>) -> Result<TakenIn, Error> {
        let mut taken = TakenIn::default();
        for attached in attached {
            match attached {
                Attached::Text { name, text } => {
                    let heard = self.hear(task, text, &[]).await?;
                    taken.audited.extend(heard.audited);
                    taken.attachments.push(Attachment::Text { name, text: heard.words });
                }
                Attached::Picture { name, bytes } => {
                    let bytes = self.shared.redactor.redact_bytes(&bytes).into_owned();
                    let digest = windlass_domain::Digest::of(&bytes);
                    let image = Image::describing(&name, &bytes, digest).ok_or(Error::NotAnImage(name))?;
                    let store = &self.shared.store;
                    taken.blobs.push(store.stage_blob(&self.shared.tenant, bytes, Taint::Auth).await?);
                    taken.attachments.push(Attachment::Image(image));
                }
            }
        }
        Ok(taken)
    }
}
