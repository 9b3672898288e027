//! Driving a planned task: short passes that make every move there is and then go to sleep (`pass`); what the moves are made of
//! (`planner`, `plan_card`, `atoms`, `join`, `hand_over`), what is kept between passes (`resting`); and all of it in one process, for who waits at a terminal (`family`).

mod atoms;
mod family;
mod hand_over;
mod join;
mod journal;
mod look;
mod objective_file;
mod outline;
mod pass;
mod plan_card;
mod planner;
mod replay;
mod resting;
mod switch;
mod time_up;

pub(crate) use journal::{GraphJournal, graph_stream};
pub(crate) use outline::{in_words, outline};
pub(crate) use pass::GraphDriver;
pub(crate) use plan_card::whole_hash;
pub use plan_card::worst_case;
pub(crate) use replay::Replayed;
pub(crate) use resting::Resting;
