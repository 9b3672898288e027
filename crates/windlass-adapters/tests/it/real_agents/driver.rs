//! Starts a real program as its adapter says and keeps up the conversation with it: the least that a runner does, without a sandbox. Both
//! framings; what is told twice under one id is told once, as the journal would have it.

#![expect(clippy::disallowed_methods, reason = "the environment says where the programs are, and they are processes")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;

use tempfile::TempDir;
use windlass_adapters::{
    Adapter, Answer, Conversation, Dialect, Event, Framing, LaunchSpec, Launching, Mode, PermissionAsked, Session, Tell,
};
use windlass_domain::Runtime;
use windlass_domain::execution::{Observation, TurnEnd};
use windlass_llm::{Script, Server};
use windlass_runtime::{Threads, TokioRuntime};

use crate::launching::SESSION;
use crate::notation;

/// What the model's server and ours want to see.
pub const KEY: &str = "key-of-this-execution";

/// One start of a program.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub adapter: &'a dyn Adapter,
    pub dialect: Dialect,
    /// The track that its model plays.
    pub track: &'a str,
    pub session: Session<'a>,
    pub prompt: &'a str,
    /// Where our MCP server is, for who is to have it.
    pub mcp: Option<&'a str>,
}

impl<'a> Part<'a> {
    /// A new conversation in a language that the program speaks.
    pub fn new(adapter: &'a dyn Adapter, track: &'a str) -> Self {
        let dialect = adapter.agent().dialects.first().copied().unwrap_or(Dialect::Chat);
        Self { adapter, dialect, track, session: Session::New(SESSION), prompt: "go", mcp: None }
    }
}

/// A rehearsed model, a home and a workspace, for as many runs as a test wants.
pub struct Stage {
    endpoint: String,
    place: TempDir,
    /// The ids that were told, in all of its runs.
    told: Rc<RefCell<BTreeSet<String>>>,
    _executor: Box<dyn std::any::Any>,
}

impl Stage {
    pub fn new(script: &str) -> Self {
        let executor = windlass_runtime::executor(Threads::PerCore).expect("threads");
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
        // Not below /tmp, where Codex does not put its helpers.
        let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let workspace = place.path().join("workspace");
        fs::create_dir(place.path().join("home")).expect("a home");
        fs::create_dir(&workspace).expect("a workspace");
        let script = script.replace("WORKSPACE", &workspace.display().to_string());
        let script = Arc::new(Script::parse(&script).expect("a script"));
        let server = executor.block_on(Server::bind(0, script, runtime.clone())).expect("a port");
        let endpoint = format!("http://{}", server.local_addr().expect("an address"));
        runtime.spawn(Box::pin(server.run()));
        Self { endpoint, place, told: Rc::default(), _executor: Box::new(executor) }
    }

    pub fn workspace(&self) -> PathBuf {
        self.place.path().join("workspace")
    }

    pub fn written(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.workspace().join(file)).ok()
    }

    /// Whether nothing has been written to the workspace.
    pub fn is_untouched(&self) -> bool {
        fs::read_dir(self.workspace()).expect("it is there").next().is_none()
    }

    pub fn run(&self, part: &Part<'_>) -> Run {
        self.run_changed(part, |_| {})
    }

    /// Starts a program as its adapter says, but for what `change` changes.
    pub fn run_changed(&self, part: &Part<'_>, change: fn(&mut LaunchSpec)) -> Run {
        let Part { adapter, dialect, track, session, prompt, mcp } = *part;
        let place = std::env::var_os("WINDLASS_AGENTS").expect("`make test-agents` sets it");
        let program = Path::new(&place).join("bin").join(adapter.agent().program);
        assert!(program.exists(), "{} is not there: run `make agents`", program.display());
        let (home, workspace) = (self.place.path().join("home"), self.workspace());
        let launching = Launching {
            mode: Mode::Structured,
            program: &program,
            home: &home,
            workspace: &workspace,
            model: &format!("rehearsal/{track}"),
            window: 200_000,
            longest_answer: 8_000,
            dialect,
            endpoint: &self.endpoint,
            key: KEY,
            mcp,
            bridge: None,
            session,
            instructions: "Be brief, says Windlass.",
            prompt,
            anew: "",
        };
        let mut spec = adapter.launch(&launching).expect("it can be launched");
        change(&mut spec);
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
            framing: spec.framing,
            conversation: adapter.converse(&launching),
            events: Vec::new().into_iter(),
            seen: Vec::new(),
            told: Rc::clone(&self.told),
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
    framing: Framing,
    conversation: Box<dyn Conversation>,
    events: std::vec::IntoIter<Event>,
    /// Everything so far, for when something else was expected.
    seen: Vec<String>,
    /// The ids that were told, in this run and those before it.
    told: Rc<RefCell<BTreeSet<String>>>,
    pub session: String,
}

impl Run {
    /// The next event that is not for the program itself.
    pub fn next(&mut self) -> Event {
        loop {
            match self.events.next() {
                Some(Event::Write(frame)) => self.write(&[frame]),
                Some(Event::Streamed { .. }) => {}
                Some(event) => {
                    self.seen.push(notation::event(&event));
                    if self.counts(&event) {
                        return event;
                    }
                }
                None => {
                    let frame = self.frame();
                    self.events = self.conversation.read(&frame).into_iter();
                }
            }
        }
    }

    fn counts(&mut self, event: &Event) -> bool {
        match event {
            Event::Unreadable { .. } => panic!("not readable:\n{}", self.seen.join("\n")),
            Event::Observed { event_id, observation } => {
                if let Observation::Session { session_id } = observation {
                    self.session.clone_from(session_id);
                }
                let new = self.told.borrow_mut().insert(event_id.clone());
                // A notice goes by its words, so that one that is repeated is recorded once.
                let may_be_old = matches!(observation, Observation::Session { .. } | Observation::Noticed { .. });
                assert!(new || may_be_old, "told under an id that was used before:\n{}", self.seen.join("\n"));
                new
            }
            _ => true,
        }
    }

    fn frame(&mut self) -> Vec<u8> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).expect("text");
        assert!(read > 0, "the program ended after:\n{}", self.seen.join("\n"));
        if self.framing == Framing::Lines {
            return line.into_bytes();
        }
        let mut length = 0;
        while !line.trim().is_empty() {
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().expect("a length");
            }
            line.clear();
            self.output.read_line(&mut line).expect("text");
        }
        let mut frame = vec![0; length];
        self.output.read_exact(&mut frame).expect("a whole frame");
        frame
    }

    fn write(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            let framed = match self.framing {
                Framing::Lines => [frame.as_slice(), b"\n"].concat(),
                Framing::ContentLength => {
                    [format!("Content-Length: {}\r\n\r\n", frame.len()).as_bytes(), frame].concat()
                }
            };
            self.input.write_all(&framed).expect("the program listens");
        }
        self.input.flush().expect("the program listens");
    }

    /// Answers every question in the same way until the turn ends; how it ended, and what was asked, said and done.
    pub fn turn(&mut self, answer: &Answer) -> (TurnEnd, Vec<String>) {
        let mut told = Vec::new();
        loop {
            match self.next() {
                Event::Asked(asked) => {
                    told.push(format!("asked {}", asked.proposed.tool));
                    self.answer(&asked.request, answer);
                }
                Event::Ran { .. } => told.push("ran".to_owned()),
                Event::Observed { observation: Observation::TurnEnded { end }, .. } => return (end, told),
                Event::Observed { observation: Observation::Said { text }, .. } => told.push(format!("said {text}")),
                Event::Observed { observation: Observation::CallEnded { is_error, output, .. }, .. } => {
                    let first = output.lines().next().unwrap_or_default();
                    told.push(format!("{} {first}", if is_error { "failed" } else { "did" }));
                }
                _ => {}
            }
        }
    }

    /// How its turn would have ended, once it waits for something that it left running.
    pub fn lingers(&mut self) -> TurnEnd {
        loop {
            if let Event::Lingers { end, .. } = self.next() {
                return end;
            }
        }
    }

    /// The next question, unanswered.
    pub fn asked(&mut self) -> PermissionAsked {
        loop {
            if let Event::Asked(asked) = self.next() {
                return asked;
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

    pub fn say(&mut self, text: &str) {
        self.tell(&Tell::Say { text: text.to_owned() });
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
