//! Questions of agents as they are kept: one stream for each, and a message in the tenant's `review` mailbox for as long as it
//! is open, beside the cards. What may happen to a question is `windlass_domain`'s.

mod hearers;
mod journal;
mod list;
mod put;
mod send;

pub(crate) use journal::QuestionJournal;
pub use list::{OpenQuestion, QuestionTold};
pub(crate) use put::put_question;
pub(crate) use send::fits;
pub use send::{LONGEST_MESSAGE, Message, Sent};
