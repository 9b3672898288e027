//! The coding agents that are programs of their own: which there are, where they are installed, and how one is run here.

mod catalogue;
mod config;
mod finding;
mod running;

pub use catalogue::{Catalogue, OURS};
pub use config::{AgentsConfig, Places};
pub use finding::{Found, INSIDE_BRIDGE, find, missing, myself, unknown};
pub use running::{Homes, INSIDE_HOME, INSIDE_WORKSPACE, Versions, briefing, versions};
