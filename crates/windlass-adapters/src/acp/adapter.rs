//! An agent that is known by its command line alone: it speaks the Agent Client Protocol, and how it is told of its model is the operator's
//! business. In arguments, environment and files `{endpoint}`, `{key}`, `{model}`, `{home}` and `{workspace}` stand for what a launch brings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::talk::{Asks, From, Mcp, Opening, Talk};
use crate::kept::START_FILES;
use crate::{
    Adapter, Agent, CannotLaunch, Conversation, Framing, Kept, LaunchSpec, Launching, Mode, PlacedFile, Session,
};

#[derive(Debug, Clone)]
pub struct Acp {
    agent: &'static Agent,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    files: Vec<PlacedFile>,
    terminal: Vec<String>,
}

impl Acp {
    /// The program of `agent`, started with these arguments.
    pub fn new<Word: Into<String>>(agent: &'static Agent, arguments: impl IntoIterator<Item = Word>) -> Self {
        Self {
            agent,
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: BTreeMap::new(),
            files: Vec::new(),
            terminal: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A file in its home, by its path there.
    #[must_use]
    pub fn with_file(mut self, path: &str, content: &str) -> Self {
        self.files.push(PlacedFile { path: PathBuf::from(path), content: content.to_owned() });
        self
    }

    /// The arguments with which it shows its own screen.
    #[must_use]
    pub fn with_terminal<Word: Into<String>>(mut self, arguments: impl IntoIterator<Item = Word>) -> Self {
        self.terminal = arguments.into_iter().map(Into::into).collect();
        self
    }
}

impl Adapter for Acp {
    fn agent(&self) -> &'static Agent {
        self.agent
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        possible(self.agent, launching)?;
        let arguments = match launching.mode {
            Mode::Structured => &self.arguments,
            Mode::Terminal => &self.terminal,
        };
        let mut argv = vec![launching.program.display().to_string()];
        argv.extend(arguments.iter().map(|argument| filled(argument, launching)));
        let file = |file: &PlacedFile| PlacedFile { content: filled(&file.content, launching), ..file.clone() };
        Ok(LaunchSpec {
            argv,
            env: self.environment.iter().map(|(name, value)| (name.clone(), filled(value, launching))).collect(),
            files: self.files.iter().map(file).collect(),
            before: Vec::new(),
            framing: Framing::Lines,
        })
    }

    fn kept(&self) -> Kept {
        Kept::AllBut(&START_FILES)
    }

    /// It says so when it is greeted.
    fn may_need_bridge(&self) -> bool {
        self.agent.takes_mcp
    }

    fn has_screen(&self) -> bool {
        !self.terminal.is_empty()
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        // The protocol has no place for standing instructions but the first message.
        let first = |words: &str| match launching.instructions {
            "" => words.to_owned(),
            instructions => format!("{instructions}\n\n{words}"),
        };
        let opening = opening(self.agent, launching, first(launching.prompt));
        Box::new(Talk::new(Opening { anew: first(launching.anew), ..opening }))
    }
}

/// What the program cannot be started with, said before it is.
pub fn possible(agent: &'static Agent, launching: &Launching<'_>) -> Result<(), CannotLaunch> {
    if !agent.dialects.contains(&launching.dialect) {
        return Err(CannotLaunch::NoSuchDialect { agent: agent.id });
    }
    if launching.mcp.is_some() && !agent.takes_mcp {
        return Err(CannotLaunch::NoMcp { agent: agent.id });
    }
    if matches!(launching.session, Session::Fork(_)) && !agent.can_fork {
        return Err(CannotLaunch::CannotFork { agent: agent.id });
    }
    Ok(())
}

pub fn opening(agent: &'static Agent, launching: &Launching<'_>, prompt: String) -> Opening {
    Opening {
        from: match launching.session {
            Session::New(_) => From::New,
            Session::Resume(id) => From::Old(id.to_owned()),
            Session::Fork(id) => From::Fork(id.to_owned()),
        },
        workspace: launching.workspace.display().to_string(),
        mcp: launching.mcp.map(|url| Mcp {
            url: url.to_owned(),
            key: launching.key.to_owned(),
            bridge: launching.bridge.map(|program| program.display().to_string()),
        }),
        prompt,
        anew: launching.anew.to_owned(),
        steerable: agent.can_be_steered,
        asks: Asks::Knowingly,
    }
}

fn filled(template: &str, launching: &Launching<'_>) -> String {
    template
        .replace("{endpoint}", launching.endpoint)
        .replace("{key}", launching.key)
        .replace("{model}", launching.model)
        .replace("{home}", &launching.home.display().to_string())
        .replace("{workspace}", &launching.workspace.display().to_string())
}
