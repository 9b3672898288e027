//! The three languages of model servers from the server's side: what a request asks for, looked at no further than needed, and
//! answers written from `Piece`s, as events or whole. Pure. The client's side of the same languages is `wire`.

mod answer;
mod chat;
mod kind;
mod messages;
mod request;
mod responses;
mod skim;
mod spoken;

pub(crate) use answer::{Encoder, stream, whole};
pub use kind::Dialect;
pub(crate) use request::{Request, text_of};
pub(crate) use skim::{NotJson, Skim};
pub(crate) use spoken::{About, flat};
