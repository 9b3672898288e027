//! `Runner` for the native loop.

use std::sync::Arc;

use windlass_domain::execution::{DoomLoopConfig, Launch, Outcome};
use windlass_domain::task::CompactionConfig;
use windlass_domain::{BoxFuture, Delegation, Host, Runner, Runtime};
use windlass_llm::{Models, Provider};
use windlass_tools::Toolset;

use crate::session::Session;

/// How the model is asked, and how a conversation is kept from growing beyond it or going in circles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    pub delegation: Delegation,
    pub compaction: CompactionConfig,
    pub doom_loop: DoomLoopConfig,
}

pub struct NativeRunner {
    pub provider: Arc<dyn Provider>,
    pub tools: Arc<Toolset>,
    pub runtime: Arc<dyn Runtime>,
    pub settings: Settings,
    /// What is known of models that it may be told to ask instead.
    pub models: Arc<Models>,
}

impl Runner for NativeRunner {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            match Session::open(self, launch, host).await {
                Ok(mut session) => session.run().await,
                Err(outcome) => outcome,
            }
        })
    }
}
