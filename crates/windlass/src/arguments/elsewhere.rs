//! What can be typed with every command to have it carried out by a server.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct Elsewhere {
    /// Ask this server instead of the data directory of this machine [default: WINDLASS_SERVER]
    #[arg(long, value_name = "URL", global = true, help_heading = "Elsewhere")]
    pub server: Option<String>,
    /// A file of mode 0600 that holds the token for it [default: WINDLASS_TOKEN]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Elsewhere")]
    pub token_file: Option<PathBuf>,
}
