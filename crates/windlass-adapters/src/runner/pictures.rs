//! Pictures beside the goal: a program is given words, so that a picture lies in its home, as a file that the words name. Not in the workspace, which is
//! what the work is judged by.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use windlass_domain::execution::Launch;
use windlass_domain::{Attachment, Host, Image};

use super::ending::End;

pub fn pictures(launch: &Launch) -> Vec<Image> {
    let pictures = launch.task.attachments.iter().filter_map(|attachment| match attachment {
        Attachment::Image(image) => Some(image.clone()),
        Attachment::Text { .. } => None,
    });
    pictures.collect()
}

/// The prompt, with where the pictures are.
pub fn naming(prompt: &str, pictures: &[Image], home: &Path) -> String {
    let mut named = prompt.to_owned();
    for (index, picture) in pictures.iter().enumerate() {
        let place = home.join(place(index, picture));
        let _a_text_takes_all = write!(named, "\n\nAttached: {}: look at {}", picture.in_words(), place.display());
    }
    named
}

/// Below the home. What a person called it is no name for a file of ours.
fn place(index: usize, picture: &Image) -> PathBuf {
    let (_, kind) = picture.media_type.as_str().split_once('/').unwrap_or_default();
    PathBuf::from(format!("attached/{}.{kind}", index + 1))
}

/// Each with its place. They are put there before each launch: the agent may have done something to them.
pub async fn developed(host: &dyn Host, pictures: &[Image]) -> Result<Vec<(PathBuf, Vec<u8>)>, End> {
    let mut placed = Vec::new();
    for (index, picture) in pictures.iter().enumerate() {
        let bytes = host.blob_get(picture.digest).await.map_err(End::Refused)?;
        placed.push((place(index, picture), bytes));
    }
    Ok(placed)
}
