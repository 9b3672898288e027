//! One file for each thing a user can type.

mod answer;
mod ask;
mod audit;
mod cancel;
mod dead_letters;
mod demo;
mod doctor;
mod drive;
mod find;
mod gates;
mod inbox;
mod keys;
mod log;
mod rehearse;
mod resume;
mod run;
mod script;
mod status;
mod worker;

pub use answer::{approve, deny, edit};
pub use audit::audit;
pub use cancel::cancel;
pub use dead_letters::dead_letters;
pub use demo::demo;
pub use doctor::doctor;
pub use gates::gates;
pub use inbox::inbox;
pub use keys::keys;
pub use log::log;
pub use rehearse::rehearse;
pub use resume::resume;
pub use run::run;
pub use status::status;
pub use worker::worker;
