//! Moving a whole store from SQLite to PostgreSQL: every row as it is, positions, chains and heads among them, so that what was
//! signed of the one holds for the other. It is done in one transaction of the target, which must be empty, while nobody else
//! writes to the source: all of it is there afterwards, or nothing. What belongs to processes is left behind: nobody holds a lease or a
//! message afterwards, for nobody who held one may go on.

mod source;
mod sqlite_to_postgres;
mod tables;
mod target;

pub use sqlite_to_postgres::{Moved, sqlite_to_postgres};
