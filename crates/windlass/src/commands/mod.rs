//! One file for each thing a user can type.

mod audit_show;
mod audit_verify;
mod cancel;
mod dead_letters;
mod demo;
mod doctor;
mod drive;
mod find;
mod gate_input;
mod gates_list;
mod gates_test;
mod keys;
mod log;
mod rehearse;
mod resume;
mod run;
mod script;
mod status;

pub use audit_show::audit_show;
pub use audit_verify::audit_verify;
pub use cancel::cancel;
pub use dead_letters::dead_letters;
pub use demo::demo;
pub use doctor::doctor;
pub use gates_list::gates_list;
pub use gates_test::gates_test;
pub use keys::keys;
pub use log::log;
pub use rehearse::rehearse;
pub use resume::resume;
pub use run::run;
pub use status::status;
