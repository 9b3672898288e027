//! What may be shown and what may be kept: secrets are taken out of everything that is written down (`Redactor`), and what
//! a model, tool or repository says is made harmless before a person reads it (`visible`). Everything here is pure.

mod redact;
mod visible;

pub use redact::{MARKER, MIN_SECRET_BYTES, Redactor, Stream};
pub use visible::{visible, visible_line};
