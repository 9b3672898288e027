//! Time, tasks and chance in production: the `Runtime` port on Tokio and the operating system. This is their one home;
//! everything else asks the port, so that the simulator can stand in.

mod tokio_runtime;

pub use tokio_runtime::{Threads, TokioRuntime, executor};
