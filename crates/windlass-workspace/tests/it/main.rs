//! What the workspace promises, tried from outside: nothing leaves the root, and snapshots give back what they were
//! given.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod apply;
mod capture;
mod copies;
mod differential;
mod escape;
mod files;
mod git;
mod index;
mod limits;
mod merge;
mod permissions;
mod port;
mod race;
mod repositories;
mod restore;
mod rules;
mod search;
mod silent_git;
mod staying;
mod support;
mod times;
