//! The server: over HTTP, over lines, over the bridge from one to the other, and what an execution is served.

mod back_channel;
mod bridge;
mod desk;
mod http;
mod lines;
mod listener;
mod no_bytes;
mod real_mcp;
