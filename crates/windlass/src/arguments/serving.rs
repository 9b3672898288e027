//! The words of `windlass serve`, and of the tokens by which others are known there.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Output, SandboxChoice};

#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen; another port of this machine, or an address that others reach [default: 127.0.0.1:7117]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The certificate to show, in PEM; with --tls-key
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Something in front of it speaks TLS with those who ask
    #[arg(long)]
    pub behind_proxy: bool,
    /// A folder that tasks may work in, with all that is in it; may be repeated [default: `[server] workspaces`, or here]
    #[arg(long, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// The model that works on the tasks, unless a request names one
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play a script instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub rehearsal: Option<PathBuf>,
    #[command(flatten)]
    pub sandbox: SandboxChoice,
    /// Only take requests, and leave the work to `windlass worker`
    #[arg(long)]
    pub no_work: bool,
    /// How many tasks to work on at a time, at most eight of them of one tenant
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub concurrency: usize,
    /// Asked to end, how long what was begun may go on before it is left to others
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain: u64,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Token {
    /// Make a token for somebody, and show it this once
    Add(TokenAdd),
    /// Show the tokens there are, without what makes them good
    List(Output),
    /// Take a token back; it is good for nothing from then on
    Revoke(TokenRevoke),
}

#[derive(Debug, Args)]
pub struct TokenAdd {
    /// Whose it is; records name them so
    pub name: String,
    /// What it is good for: read, write, approve, admin, terminal
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', default_value = "read")]
    pub scope: Vec<String>,
    /// Whose work it is about
    #[arg(long, value_name = "TENANT", default_value = "local")]
    pub tenant: String,
    /// For how many days it is good; without this, until it is taken back
    #[arg(long, value_name = "DAYS")]
    pub expires: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct TokenRevoke {
    pub name: String,
    #[command(flatten)]
    pub output: Output,
}
