//! Many workers on one database, and somebody who kills, ends and stops them while several people submit, answer and cancel.
//!
//! An *errand* is a task with a folder of its own and a script that says what its agent does there. A *machine* is a data directory
//! with its workers. The *storm* is the test; its *verdict* compares what is left in the folders with what the journal says.

mod errand;
mod machine;
mod people;
mod storm;
mod verdict;
