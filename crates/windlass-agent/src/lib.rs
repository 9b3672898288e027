//! The native loop: a model, tools, and a journal that says what comes next. It is one `Runner` among others; what it may
//! do, what it costs and whether it succeeded is decided by the host.

mod ask;
mod compact;
mod context;
mod doom;
mod lead;
mod next;
mod pictures;
mod prompt;
mod recover;
mod runner;
mod session;
mod tactician;
mod wave;

pub use compact::{Circumstances as Compacting, Flushes, Room, Segment, Step};
pub use next::{Circumstances, Form, Next, next};
pub use prompt::{foreign_instructions, prompt_for, system_prompt, task_message};
pub use runner::{NativeRunner, Settings};
