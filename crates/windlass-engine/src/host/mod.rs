//! The host of one execution: every record, leave and request of its runner passes here and nowhere else.

mod authorise;
mod deliver;
mod execution_host;
mod journal;
mod shown;

pub(crate) use execution_host::{ExecutionHost, HostParts, Rider};
pub(crate) use journal::{Decided, Journal, load};
