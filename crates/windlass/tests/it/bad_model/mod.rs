//! A model, or whoever pretends to be one, that answers badly: whole runs of the program against a server that lies, over
//! every wire. Each bad answer is answered, bounded and recorded; none crashes, hangs or loses the run.

mod answers;
mod commands;
pub mod liar;
mod streams;
mod trial;
pub mod wire;
