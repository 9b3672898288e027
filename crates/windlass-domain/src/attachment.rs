//! What a user puts beside the goal: text that the first message repeats, or a picture that it shows.

use serde::{Deserialize, Serialize};

use crate::image::Image;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Attachment {
    Text { name: String, text: String },
    Image(Image),
}
