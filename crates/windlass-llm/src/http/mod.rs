//! HTTP/1.1 to one model server, on hyper's connections and our own small pool: about a quarter of what a general client
//! costs per call, every task and timer through `Runtime`, no proxy, redirect, cookie or decompression behind our back.

mod base_url;
mod body;
mod client;
mod connect;
mod head;
mod rope;

pub use base_url::BaseUrl;
pub use body::RopeBody;
pub use client::{Client, Incoming};
pub use rope::Rope;
