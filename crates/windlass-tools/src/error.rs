//! Why a toolset could not be made. What goes wrong in a call is not an error here but the call's result.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("open the workspace: {0}")]
    Workspace(#[from] windlass_workspace::Error),
    #[error("register `{tool}`: its schema uses `{what}`, which arguments are not checked against")]
    Schema { tool: String, what: String },
    #[error("register `{tool}`: there already is a tool of that name")]
    Duplicate { tool: String },
}
