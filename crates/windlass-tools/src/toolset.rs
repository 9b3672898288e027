//! The tools of one execution: what the model is shown, what a call would do, and doing it. A tool that is not in here
//! does not exist for the agent, whatever it asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use windlass_domain::{
    BoxFuture, CallId, CallStatus, CancelSignal, Digest, Effect, ExecutionId, HostRequest, Permit, Prepared, ToolCall,
    ToolSpec, spill_path,
};
use windlass_workspace::WorkspacePath;

use crate::context::{Confinement, Context};
use crate::kit::{Kit, Registered};
use crate::output::{Saved, fit, save};
use crate::real::by_real_paths;
use crate::skills::Offered;
use crate::suggest::nearest;
use crate::tool::{Output, Picture, Preparing, Running, refusal};

pub struct Toolset {
    context: Context,
    kit: Kit,
}

/// What came of a call.
#[derive(Debug)]
pub struct Ran {
    pub status: CallStatus,
    /// What the model is told.
    pub content: String,
    /// The whole output, where `content` is a part of it.
    pub full_output: Option<Vec<u8>>,
    /// What it shows besides.
    pub pictures: Vec<Picture>,
    /// What the host is asked to do; `content` then holds if it agrees.
    pub request: Option<HostRequest>,
}

impl Toolset {
    pub fn new(mut context: Context, kit: Kit) -> Self {
        let is_here = |name: &str| kit.tools.get(name).is_some_and(|tool| tool.tool.is_here(&context));
        context.skills = Arc::clone(&context.skills).for_tools(is_here);
        Self { context, kit }
    }

    /// What the agent may read up on.
    pub fn skills(&self) -> &[Offered] {
        &self.context.skills.offered
    }

    /// What the sandbox is worth.
    pub const fn confinement(&self) -> Confinement {
        self.kit.confinement
    }

    /// By name, so that a prompt made twice is the same bytes.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.here().map(|(_, registered)| registered.spec.clone()).collect()
    }

    /// What a call would do, or what to tell the model instead. Changes nothing.
    pub fn prepare(&self, call: &ToolCall) -> BoxFuture<'_, Result<Prepared, String>> {
        let found = self.find(&call.tool).and_then(|tool| Ok((arguments(&tool, call)?, tool)));
        Box::pin(async move {
            let (arguments, registered) = found.map_err(refusal)?;
            let prepared = match registered.tool.preparing() {
                Preparing::AtOnce => registered.tool.prepare(&arguments, &self.context),
                Preparing::TakesTime => {
                    let context = self.context.clone();
                    let prepare = move || registered.tool.prepare(&arguments, &context);
                    self.context.runtime.blocking(prepare).await
                }
            };
            prepared.map(|prepared| by_real_paths(prepared, &self.context.root)).map_err(refusal)
        })
    }

    /// Does what `permit` allows, for this execution. `watch` sees output as it comes.
    pub fn run<'a>(
        &'a self,
        execution: ExecutionId,
        permit: Permit,
        cancel: CancelSignal,
        watch: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let call_id = permit.call().call.call_id.clone();
            let output = match self.find(&permit.call().call.tool) {
                Ok(registered) => registered.tool.run(permit, &self.context, Running { cancel, watch }).await,
                Err(reason) => Output::error(reason),
            };
            self.fitted(output, whole_of(execution, &call_id)).await
        })
    }

    /// The digest of the file that a call was about to change, as it is now, for `Effect::recover`. What a write that was
    /// cut off left beside the file is removed.
    pub fn probe(&self, effect: &Effect) -> BoxFuture<'_, Option<Digest>> {
        let path = match effect {
            Effect::Probe(probe) => WorkspacePath::parse(&probe.path).ok(),
            Effect::Read | Effect::Child | Effect::Once => None,
        };
        Box::pin(async move {
            let root = Arc::clone(&self.context.root);
            let look = move || {
                let path = path?;
                // What cannot be swept is no reason to misjudge the file.
                let _ = root.sweep(&path);
                root.digest(&path).ok().flatten()
            };
            self.context.runtime.blocking(look).await
        })
    }

    /// Of these paths below the workspace, those that are there.
    pub fn existing(&self, paths: BTreeSet<String>) -> BoxFuture<'_, BTreeSet<String>> {
        let root = Arc::clone(&self.context.root);
        let is_there = move |path: &String| WorkspacePath::parse(path).is_ok_and(|path| root.metadata(&path).is_ok());
        let look = move || paths.into_iter().filter(is_there).collect();
        Box::pin(self.context.runtime.blocking(look))
    }

    /// The tools that have something to work with, by name.
    fn here(&self) -> impl Iterator<Item = (&str, &Arc<Registered>)> {
        let tools = self.kit.tools.iter().filter(|(_, registered)| registered.tool.is_here(&self.context));
        tools.map(|(name, registered)| (name.as_str(), registered))
    }

    /// Puts a result where the agent can read it page by page, unless it is there already. None where that cannot be.
    pub fn save_output(
        &self,
        execution: ExecutionId,
        call_id: &CallId,
        content: String,
    ) -> BoxFuture<'_, Option<Saved>> {
        let (root, path) = (Arc::clone(&self.context.root), whole_of(execution, call_id));
        Box::pin(self.context.runtime.blocking(move || save(&content, &path, &root)))
    }

    fn find(&self, name: &str) -> Result<Arc<Registered>, String> {
        let found = self.here().find(|(known, _)| *known == name);
        found.map(|(_, registered)| Arc::clone(registered)).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.here().map(|(name, _)| name).collect();
        let hint = nearest(name, names.iter().copied())
            .map_or_else(|| ".".to_owned(), |meant| format!("; did you mean `{meant}`?"));
        format!("there is no tool `{name}`{hint} The tools are: {}", names.join(", "))
    }

    async fn fitted(&self, output: Output, whole: WorkspacePath) -> Ran {
        let Output { status, text, pictures, request } = output;
        let (content, full_output) = self.fit_to(text, whole).await;
        Ran { status, content, full_output, pictures, request }
    }

    /// What a call says, cut to size; and the whole of it, where that is more. Also for what a host answers in a tool's place.
    pub async fn fit(&self, text: String, execution: ExecutionId, call_id: &CallId) -> (String, Option<Vec<u8>>) {
        self.fit_to(text, whole_of(execution, call_id)).await
    }

    async fn fit_to(&self, text: String, whole: WorkspacePath) -> (String, Option<Vec<u8>>) {
        let most_bytes = self.context.limits.output_bytes();
        if text.len() <= most_bytes {
            return (text, None);
        }
        let root = Arc::clone(&self.context.root);
        let fitted = self.context.runtime.blocking(move || fit(text, most_bytes, &whole, &root)).await;
        (fitted.content, fitted.full)
    }
}

/// Where a result goes that is too long.
fn whole_of(execution: ExecutionId, call_id: &CallId) -> WorkspacePath {
    WorkspacePath::parse(spill_path(execution, call_id)).expect("a plain name is a path")
}

fn arguments(registered: &Registered, call: &ToolCall) -> Result<Value, String> {
    let name = &registered.spec.name;
    let arguments: Value = serde_json::from_str(call.arguments.get())
        .map_err(|error| format!("the arguments of `{name}` cannot be read: {error}"))?;
    if let Value::String(text) = &arguments {
        let start: String = text.chars().take(200).collect();
        return Err(format!("the arguments of `{name}` are not valid JSON; send one JSON object. They began: {start}"));
    }
    if !arguments.is_object() {
        return Err(format!("the arguments of `{name}` must be one JSON object"));
    }
    let problems = registered.schema.problems(&arguments);
    if problems.is_empty() {
        return Ok(arguments);
    }
    let lines: Vec<String> = problems.iter().map(|problem| format!("- {problem}")).collect();
    Err(format!("invalid arguments for `{name}`; nothing was done:\n{}", lines.join("\n")))
}
