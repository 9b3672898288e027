//! Checks as documents: which forms are read, what is refused and where, and how a check is judged.

mod base_case;
mod documented;
mod hostile;
mod judging;
mod objective;
mod patterns;
mod plans;
mod problems;
mod vacuous;
mod written;
mod zones;
