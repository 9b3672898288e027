//! Redaction: every byte that enters a journal, blob, log or prompt passes here, and secrets come out as `[REDACTED]`.
//!
//! Two detectors name *regions* of a text: `known` finds secrets whose value the runtime was told, in all the forms they
//! take on their way (`forms`); `shapes` finds what looks like a credential. A region may be open: a token goes on for as
//! long as its letters do (`run`). Regions never cut a backslash escape in two (`escape`), so that serialised JSON stays
//! JSON. What is covered by any region is replaced, whatever the pieces in which a text arrives (`stream`).

mod escape;
mod forms;
mod known;
mod redactor;
mod run;
mod search;
mod shapes;
mod stream;

pub use forms::MIN_SECRET_BYTES;
pub use redactor::Redactor;
pub use stream::{MARKER, Stream};
