//! A workspace with every tool over it, and a sandbox that plays a script.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use windlass_domain::{Call, CallStatus, CancelSignal, Effect, ExecutionId, Permit, Prepared, ToolCall, Wall};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{BoxFuture, Cancel, Command, Error, Exit, Output, Running, Sandbox, Status, Stream};
use windlass_tools::{Confinement, Context, Kit, Limits, Ran, Toolset};

pub struct Bench {
    folder: TempDir,
    pub sandbox: Arc<Scripted>,
    pub tools: Toolset,
    executor: tokio::runtime::Runtime,
}

impl Bench {
    pub fn new() -> Self {
        Self::with_output_tokens(8_000)
    }

    pub fn with_output_tokens(output_tokens: usize) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        std::fs::write(folder.path().join("secret"), "nobody may read this").unwrap();
        let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let sandbox = Arc::new(Scripted::default());
        let limits = Limits { output_tokens };
        let context = Context::new(&folder.path().join("workspace"), sandbox.clone(), runtime, limits).unwrap();
        let tools = Toolset::new(context, Kit::executor(Confinement::Sealed));
        Self { folder, sandbox, tools, executor }
    }

    /// The same tools over a sandbox that confines nothing.
    pub fn unconfined(&self) -> Toolset {
        Toolset::new(self.context(), Kit::executor(Confinement::Nothing))
    }

    /// For other tools over the same folder.
    pub fn context(&self) -> Context {
        let limits = Limits { output_tokens: 8_000 };
        Context::new(&self.path(""), self.sandbox.clone(), self.runtime(), limits).unwrap()
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.executor.block_on(future)
    }

    pub fn runtime(&self) -> Arc<TokioRuntime> {
        Arc::new(TokioRuntime::new(self.executor.handle().clone()))
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace").join(path)
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), bytes).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn prepare(&self, tool: &str, arguments: &Value) -> Result<Effect, String> {
        self.prepare_text(tool, &arguments.to_string())
    }

    pub fn prepare_text(&self, tool: &str, arguments: &str) -> Result<Effect, String> {
        self.prepare_with(&self.tools, tool, arguments).map(|prepared| prepared.effect)
    }

    /// All that these tools say of a call.
    pub fn prepare_with(&self, tools: &Toolset, tool: &str, arguments: &str) -> Result<Prepared, String> {
        self.executor.block_on(tools.prepare(&ToolCall::new("call_1", tool, arguments)))
    }

    pub fn run(&self, tool: &str, arguments: &Value, effect: Effect) -> Ran {
        self.run_until(tool, arguments, effect, CancelSignal::never(), &mut |_| {})
    }

    pub fn run_until(
        &self,
        tool: &str,
        arguments: &Value,
        effect: Effect,
        cancel: CancelSignal,
        watch: &mut (dyn FnMut(&str) + Send),
    ) -> Ran {
        let permit = permit(ToolCall::new("call_1", tool, &arguments.to_string()), effect);
        self.executor.block_on(self.tools.run(execution(), permit, cancel, watch))
    }

    /// Both, as the loop would.
    pub fn call(&self, tool: &str, arguments: &Value) -> Ran {
        match self.prepare(tool, arguments) {
            Ok(effect) => self.run(tool, arguments, effect),
            Err(content) => {
                Ran { status: CallStatus::Error, content, full_output: None, pictures: vec![], request: None }
            }
        }
    }

    pub fn ok(&self, tool: &str, arguments: &Value) -> String {
        let ran = self.call(tool, arguments);
        assert_eq!(ran.status, CallStatus::Ok, "{}", ran.content);
        ran.content
    }

    pub fn error(&self, tool: &str, arguments: &Value) -> String {
        let ran = self.call(tool, arguments);
        assert_eq!(ran.status, CallStatus::Error, "{}", ran.content);
        assert!(!ran.content.contains(self.folder.path().to_str().unwrap()), "a host path: {}", ran.content);
        ran.content
    }

    /// A call of other tools over the same folder, as the loop would make it.
    pub fn call_with(&self, tools: &Toolset, tool: &str, arguments: &Value) -> Ran {
        match self.prepare_with(tools, tool, &arguments.to_string()) {
            Ok(prepared) => {
                let permit = permit(ToolCall::new("call_1", tool, &arguments.to_string()), prepared.effect);
                self.executor.block_on(tools.run(execution(), permit, CancelSignal::never(), &mut |_| {}))
            }
            Err(content) => {
                Ran { status: CallStatus::Error, content, full_output: None, pictures: vec![], request: None }
            }
        }
    }

    pub fn ok_with(&self, tools: &Toolset, tool: &str, arguments: &Value) -> String {
        let ran = self.call_with(tools, tool, arguments);
        assert_eq!(ran.status, CallStatus::Ok, "{}", ran.content);
        ran.content
    }

    pub fn error_with(&self, tools: &Toolset, tool: &str, arguments: &Value) -> String {
        let ran = self.call_with(tools, tool, arguments);
        assert_eq!(ran.status, CallStatus::Error, "{}", ran.content);
        ran.content
    }

    pub fn probe(&self, effect: &Effect) -> Option<windlass_domain::Digest> {
        self.executor.block_on(self.tools.probe(effect))
    }
}

/// Whose calls these are.
pub fn execution() -> ExecutionId {
    ExecutionId::new(Wall::default(), 0)
}

#[expect(clippy::disallowed_methods, reason = "there is no engine here to give leave")]
pub fn permit(call: ToolCall, effect: Effect) -> Permit {
    Permit::issue(Call { call, effect })
}

/// Answers commands from a list, and remembers them.
#[derive(Default)]
pub struct Scripted {
    pub answers: Mutex<VecDeque<Result<Exit, Error>>>,
    pub commands: Mutex<Vec<Command>>,
}

impl Scripted {
    pub fn answer(&self, answer: Result<Exit, Error>) {
        self.answers.lock().unwrap().push_back(answer);
    }
}

impl Sandbox for Scripted {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, _: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        self.commands.lock().unwrap().push(command);
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Err(Error::Closed));
        if let Ok(exit) = &answer {
            exit.combined.iter().for_each(|byte| output(Stream::Stdout, &[*byte]));
        }
        Box::pin(async move { answer })
    }

    fn start(&self, _: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn listen(&self) -> BoxFuture<'_, Result<std::net::TcpListener, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

pub fn exit(status: Status, combined: impl AsRef<[u8]>) -> Exit {
    Exit {
        status,
        combined: combined.as_ref().to_vec(),
        stdout: Vec::new(),
        stderr: Vec::new(),
        dropped: 0,
        duration: Duration::ZERO,
    }
}
