//! The screens of agents, at this end: where they are kept and found, and a person's own terminal while it shows one.

mod curtain;
mod keys;
mod place;
mod raw;
mod sit;

pub use curtain::Curtain;
pub use place::{recording, screens};
pub use raw::{Page, Raw, write_out};
pub use sit::{Left, Sights, Typing, seat, sit, sit_before};
