//! Pictures that stand in a request. One that is somewhere else is not fetched, by nobody: it would be a way out of the sandbox.

use std::sync::Arc;

use windlass_domain::{Digest, Image};

use crate::gateway::translate::told::{Untold, malformed, unsayable};
use crate::wire::from_base64;

/// What pictures show.
pub type Contents = Vec<(Digest, Arc<[u8]>)>;

/// A picture, and what it shows.
pub struct Shown {
    image: Image,
    bytes: Arc<[u8]>,
}

impl Shown {
    pub fn from_base64(letters: &str) -> Result<Self, Untold> {
        let Some(bytes) = from_base64(letters.as_bytes()) else { return malformed("a picture is no base64") };
        let digest = Digest::of(&bytes);
        match Image::describing("image", &bytes, digest) {
            Some(image) => Ok(Self { image, bytes: bytes.into() }),
            None => malformed("a picture is broken, or neither PNG, JPEG, GIF nor WebP"),
        }
    }

    /// `data:image/png;base64,…`
    pub fn from_url(url: &str) -> Result<Self, Untold> {
        match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((_, letters)) => Self::from_base64(letters),
            None => unsayable("a picture that is not in the request itself"),
        }
    }

    pub fn apart(shown: Vec<Self>) -> (Vec<Image>, Contents) {
        shown.into_iter().map(|Self { image, bytes }| (image.clone(), (image.digest, bytes))).unzip()
    }
}
