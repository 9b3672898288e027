//! An agent that speaks the language of its model server: what it says goes through, but for the model's name and the
//! credential; what it hears goes through, but for the credential. On the way the bill is read.

mod edit;
mod listen;
mod passage;
mod reach;
mod unbilled;

pub use passage::Passage;
