//! Parts: tasks that work for another one. They are made in the commit that decided them (`create`), and the commit that ends one
//! tells whoever waits for it (`told`). A planner is asked about a stuck item (`consult`), and has others find things out (`research`): a
//! timer says when it is too late for either, and for the plan itself (`deadline`). All of that is paid from one `purse`. Whom nobody waits for is told to stop (`dismiss`), and the
//! proxy hears how items and plans stand (`status`).

mod consult;
mod create;
mod deadline;
mod dismiss;
mod looked;
mod purse;
mod research;
mod status;
mod told;

pub(crate) use consult::{CONSULT_TIMER, ask_consult};
pub(crate) use create::Work;
pub(crate) use deadline::{PLAN_TIMER, plan_deadline};
pub(crate) use research::{Asking, Dispatched, RESEARCH_TIMER};
pub(crate) use status::Status;
pub(crate) use told::{Left, Told, tell_end};
