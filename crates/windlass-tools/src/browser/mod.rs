//! A headless Chromium for an agent: started in the task's sandbox by the first call that needs it, spoken to over its own pipes
//! (the DevTools protocol, without a socket), and gone with the sandbox. One browser per execution, one page per browser.
//!
//! `Wire` carries messages, `Tab` knows the page and what it is doing, `Guard` judges every request that leaves it, and `Browser`
//! is the tool. Chromium's own sandbox is off: it cannot be nested in the task's, which is the wall.
//!
//! The page is somebody else's. Nobody answers its requests between calls, so that it stands still while nobody looks.

mod action;
mod address;
mod base64;
mod guard;
mod heed;
mod launch;
mod messages;
mod notes;
mod outline;
mod tab;
mod tool;
mod trouble;
mod wire;

pub use tool::{Browser, BrowserSetup};
