//! A launch for tests, of which each changes what it is about.

use std::path::Path;

use windlass_adapters::{Dialect, Launching, Mode, Session};

#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub mode: Mode,
    pub dialect: Dialect,
    pub mcp: Option<&'a str>,
    pub bridge: Option<&'a Path>,
    pub session: Session<'a>,
    pub instructions: &'a str,
    pub prompt: &'a str,
}

pub const SESSION: &str = "11111111-2222-4333-8444-555555555555";

pub fn scene() -> Scene<'static> {
    Scene {
        mode: Mode::Structured,
        dialect: Dialect::Chat,
        mcp: None,
        bridge: None,
        session: Session::New(SESSION),
        instructions: "",
        prompt: "go",
    }
}

impl<'a> Scene<'a> {
    pub fn launching(self) -> Launching<'a> {
        Launching {
            mode: self.mode,
            program: Path::new("/agents/bin/program"),
            home: Path::new("/home/agent"),
            workspace: Path::new("/workspace"),
            model: "rehearsal/worker",
            window: 200_000,
            longest_answer: 8_000,
            dialect: self.dialect,
            endpoint: "http://127.0.0.1:4000",
            key: "key-of-this-execution-0123456789",
            mcp: self.mcp,
            bridge: self.bridge,
            session: self.session,
            instructions: self.instructions,
            prompt: self.prompt,
            anew: "begin anew",
        }
    }
}
