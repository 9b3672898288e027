//! Everything that happens, as it happens: one tail per tenant reads what was committed and hands it to all who listen. Positions
//! are the events' ids, so that whoever was away says where they were and misses nothing. What is only being said (`live`) is not
//! among them.

mod frame;
mod live;
mod stream;
mod tail;

pub use frame::is_shown;
pub use live::Live;
pub use stream::{EventsQuery, Only, stream};
pub use tail::Tails;
