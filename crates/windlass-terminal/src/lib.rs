//! Terminals: a program that wants one gets one, several people may look at it and type, and all of it can be looked at again.
//!
//! What a program prints goes into an emulator (`screen`) and nowhere else: whoever looks on is painted what the emulator shows (`paint`),
//! never what was printed, so that no sequence of a hostile program reaches the terminal of a person. What the program asks its terminal,
//! the emulator's side answers (`queries`). Everything printed and typed can be kept as an asciicast (`recording`). Other processes of the same
//! user look on and type over a socket (`serve`, `remote`).

mod decode;
mod frames;
mod line;
mod paint;
mod queries;
mod recording;
mod registry;
mod remote;
mod screen;
mod serve;
mod size;
mod sockets;
mod terminal;
mod viewer;

pub use decode::Decoder;
pub use line::{BoxFuture, Line};
pub use paint::Painter;
pub use recording::{Happened, Moment, Recorder, Recording, Unreadable};
pub use registry::{Terminals, Unopened};
pub use remote::{Hands, Seen, Sight, look_on, look_on_as_it_is};
pub use screen::Screen;
pub use serve::{Pause, Spawn, serve};
pub use size::Size;
pub use sockets::{Bound, Sockets};
pub use terminal::{Closed, Ending, NotTyped, Options, Scrub, Terminal};
pub use viewer::Viewer;
