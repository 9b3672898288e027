//! Terminals from outside: what is seen of them, what reaches whom, and what is left to look at again.

mod decode;
mod hostile;
mod programs;
mod pty;
mod queries;
mod recording;
mod serving;
mod stage;
