//! What is wrong with a history; nothing, if all is well. Each file looks at one promise, and knows nothing of the code
//! that keeps it: only the records, the files, and what was noted outside.

mod acknowledged;
pub mod effects;
mod ending;
mod examination;
mod files;
pub mod folded;
pub mod journal;
pub mod leases;
mod messages;
mod trace_file;

pub use examination::examine;
