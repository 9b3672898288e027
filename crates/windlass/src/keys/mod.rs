//! The owner's keys, as files below the data directory: the private half in `keys/owner`, which nobody else may even read, the
//! public halves of all keys there ever were in `keys/public.json`. The file `owner` says which key is current; the list follows
//! it. What is not in order is refused and never mended by guessing.

mod list;
mod private_files;
mod ring;

pub use list::KnownKey;
pub use private_files::{Addition, Kind, Refused, append, hold, read, read_end, replace};
pub use ring::FileKeyring;
