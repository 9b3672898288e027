//! The law, as pure functions: what may be shown and kept (`Redactor`, `visible`), what was approved (`approve`), how risky a
//! call is (`risk`), what gates say about it (`gate`), where data came from (`taint`), where people see what happened (`surface`),
//! and what the owner puts under an audit (`head`). Nothing here waits, looks at a clock, or touches the world: what it needs is handed in.

pub mod approve;
pub mod gate;
pub mod head;
mod obeyed;
mod redact;
pub mod risk;
pub mod surface;
pub mod taint;

pub use obeyed::is_obeyed;
pub use redact::{MARKER, MIN_SECRET_BYTES, Redactor, Stream};
pub use windlass_domain::{visible, visible_line};
