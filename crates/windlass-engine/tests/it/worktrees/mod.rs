//! Where attempts work: every kind of repository a user may have, what is kept and what goes, and a crash at every system call
//! that writes.

mod crash;
mod ground;
mod keeping;
mod killing;
mod places;
mod repositories;
