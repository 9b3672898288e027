//! Starts a real program as its adapter says, and keeps up the conversation with it: the least that a runner does, without a sandbox.

#![expect(clippy::disallowed_methods, reason = "the environment says where the programs are, and they are processes")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use windlass_adapters::{
    Adapter, Answer, Conversation, Dialect, Event, Framing, LaunchSpec, Launching, Mode, Session, Tell,
};
use windlass_domain::Runtime;
use windlass_domain::execution::{Observation, TurnEnd};
use windlass_llm::{Script, Server};
use windlass_runtime::{Threads, TokioRuntime};

use crate::notation;

pub const KEY: &str = "key-of-this-execution";

/// One start of a program.
pub struct Part<'a> {
    pub adapter: &'a dyn Adapter,
    pub dialect: Dialect,
    pub model: &'a str,
    pub session: Session<'a>,
    pub prompt: &'a str,
    pub mcp: Option<&'a str>,
}

/// A rehearsed model, a home and a workspace, for as many runs as a test wants.
pub struct Stage {
    endpoint: String,
    place: TempDir,
    _executor: Box<dyn std::any::Any>,
}

impl Stage {
    pub fn new(script: &str) -> Self {
        let executor = windlass_runtime::executor(Threads::PerCore).expect("threads");
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
        // Not below /tmp, where Codex does not put its helpers.
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        fs::create_dir(place.path().join("home")).expect("a home");
        fs::create_dir(place.path().join("workspace")).expect("a workspace");
        let script = script.replace("WORKSPACE", &place.path().join("workspace").display().to_string());
        let script = Arc::new(Script::parse(&script).expect("a script"));
        let server = executor.block_on(Server::bind(0, script, runtime.clone())).expect("a port");
        let endpoint = format!("http://{}", server.local_addr().expect("an address"));
        runtime.spawn(Box::pin(server.run()));
        Self { endpoint, place, _executor: Box::new(executor) }
    }

    /// Whether nothing has been written to the workspace.
    pub fn is_untouched(&self) -> bool {
        fs::read_dir(self.workspace()).expect("it is there").next().is_none()
    }

    pub fn workspace(&self) -> PathBuf {
        self.place.path().join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    /// Starts a program as its adapter says, but for what `change` changes.
    pub fn run(&self, part: &Part<'_>, change: fn(&mut LaunchSpec)) -> Run {
        let (adapter, agent) = (part.adapter, part.adapter.agent());
        let place = std::env::var_os("WINDLASS_AGENTS").expect("`make test-agents` sets it");
        let program = Path::new(&place).join("bin").join(agent.program);
        assert!(program.exists(), "{} is not there: run `make agents`", program.display());
        let (home, workspace) = (self.home(), self.workspace());
        let launching = Launching {
            mode: Mode::Structured,
            program: &program,
            home: &home,
            workspace: &workspace,
            model: part.model,
            dialect: part.dialect,
            endpoint: &self.endpoint,
            key: KEY,
            mcp: part.mcp,
            session: part.session,
            instructions: "Be brief.",
            prompt: part.prompt,
        };
        let mut spec = adapter.launch(&launching).expect("it can be launched");
        change(&mut spec);
        assert_eq!(spec.framing, Framing::Lines);
        for file in &spec.files {
            let path = home.join(&file.path);
            fs::create_dir_all(path.parent().expect("below the home")).expect("a folder");
            fs::write(path, &file.content).expect("a file");
        }
        let errors = File::create(self.place.path().join("stderr")).expect("a file");
        let mut child = Command::new(&spec.argv[0])
            .args(&spec.argv[1..])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .envs(&spec.env)
            .current_dir(&workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("the program starts");
        let mut run = Run {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            conversation: adapter.converse(&launching),
            events: Vec::new().into_iter(),
            told: Vec::new(),
            session: String::new(),
        };
        let frames = run.conversation.begin();
        run.write(&frames);
        run
    }
}

pub struct Run {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    conversation: Box<dyn Conversation>,
    events: std::vec::IntoIter<Event>,
    /// Everything so far, for when something else was expected.
    told: Vec<String>,
    pub session: String,
}

impl Run {
    /// The next event that is not for the program itself.
    fn next(&mut self) -> Event {
        loop {
            match self.events.next() {
                Some(Event::Write(frame)) => self.write(&[frame]),
                Some(event) => {
                    self.told.push(notation::event(&event));
                    if let Event::Observed { observation: Observation::Session { session_id }, .. } = &event {
                        self.session.clone_from(session_id);
                    }
                    assert!(!matches!(event, Event::Unreadable { .. }), "{}", self.told.join("\n"));
                    return event;
                }
                None => {
                    let mut line = String::new();
                    let read = self.output.read_line(&mut line).expect("text");
                    assert!(read > 0, "the program ended after:\n{}", self.told.join("\n"));
                    self.events = self.conversation.read(line.as_bytes()).into_iter();
                }
            }
        }
    }

    fn write(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            self.input.write_all(frame).and_then(|()| self.input.write_all(b"\n")).expect("the program listens");
        }
        self.input.flush().expect("the program listens");
    }

    /// Answers every question in the same way until the turn ends; how it ended, and what was asked and said.
    pub fn turn(&mut self, answer: &Answer) -> (TurnEnd, Vec<String>) {
        let mut told = Vec::new();
        loop {
            match self.next() {
                Event::Asked(asked) => {
                    told.push(format!("asked {}", asked.proposed.tool));
                    let frames = self.conversation.answer(&asked.request, answer);
                    self.write(&frames);
                }
                Event::Observed { observation: Observation::TurnEnded { end }, .. } => return (end, told),
                Event::Observed { observation: Observation::Said { text }, .. } => told.push(format!("said {text}")),
                Event::Observed { observation: Observation::CallEnded { is_error, output, .. }, .. } => {
                    told.push(format!("{} {}", if is_error { "failed" } else { "did" }, output.trim()));
                }
                _ => {}
            }
        }
    }

    /// Waits for a question, and leaves it unanswered.
    pub fn asked(&mut self) -> String {
        loop {
            if let Event::Asked(asked) = self.next() {
                return asked.request;
            }
        }
    }

    pub fn answer(&mut self, request: &str, answer: &Answer) {
        let frames = self.conversation.answer(request, answer);
        self.write(&frames);
    }

    pub fn tell(&mut self, tell: &Tell) {
        let frames = self.conversation.tell(tell).expect("it can be told");
        self.write(&frames);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
