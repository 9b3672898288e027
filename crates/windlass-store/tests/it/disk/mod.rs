//! A disk that can be watched and made to fail: a SQLite VFS around the real one. `vfs` is the shim, `state` what it is told
//! to do and what it has seen, `power` what such a disk holds after the power went out.

mod power;
mod state;
mod vfs;

pub use power::{Image, image_after_power_cut, read_image, write_image};
pub use state::{Disk, Fault, Op, Plan};
