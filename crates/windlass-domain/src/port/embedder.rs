//! The port to whoever can say how alike two texts are in meaning. Optional: without one, words decide.

use crate::port::BoxFuture;

pub trait Embedder: Send + Sync {
    /// A vector for each text, in order, all of one length; or the reason why not, for a person.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>>;
}
