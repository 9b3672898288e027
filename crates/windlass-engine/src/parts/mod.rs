//! Parts: tasks that work for another one. They are made in the commit that decided them (`create`), and the commit that ends one
//! tells whoever waits for it (`told`); where a planner is asked about a stuck item, a timer says when it is too late (`consult`).

mod consult;
mod create;
mod told;

pub(crate) use consult::{CONSULT_TIMER, ask_consult};
pub(crate) use create::Work;
pub(crate) use told::{Left, Told, tell_end};
