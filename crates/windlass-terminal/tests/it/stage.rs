//! A terminal whose program is the test itself, over a pipe.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, split};
use windlass_terminal::{Ending, Line, Options, Recorder, Size, Terminal};

pub struct Stage {
    pub terminal: Terminal,
    pub program: DuplexStream,
    pub sizes: Arc<Mutex<Vec<Size>>>,
    pub kills: Arc<Mutex<usize>>,
}

pub const SMALL: Size = Size { cols: 20, rows: 4 };

pub fn options(size: Size, recorder: Option<Recorder>) -> Options {
    Options { size, recorder, scrub: None, clock: Box::new(|| Duration::from_millis(1_500)), kill: Box::new(|| {}) }
}

pub fn stage(change: impl FnOnce(Options) -> Options) -> Stage {
    let (program, ours) = duplex(1 << 10);
    let (from, to) = split(ours);
    let (sizes, kills) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    let (seen, killed) = (Arc::clone(&sizes), Arc::clone(&kills));
    let resize = Box::new(move |size| {
        seen.lock().expect("nobody panics").push(size);
        Ok(())
    });
    let kill = Box::new(move || *killed.lock().expect("nobody panics") += 1);
    let line = Line { from: Box::new(from), to: Box::new(to), resize };
    let (terminal, carrying) = Terminal::open(line, change(Options { kill, ..options(SMALL, None) }));
    drive(carrying);
    Stage { terminal, program, sizes, kills }
}

#[expect(clippy::disallowed_methods, reason = "the test is the runtime")]
pub fn play(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(test);
}

#[expect(clippy::disallowed_methods, reason = "the test is the runtime")]
pub fn drive(carrying: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(carrying);
}

impl Stage {
    pub async fn print(&mut self, text: &str) {
        self.program.write_all(text.as_bytes()).await.expect("the terminal reads");
    }

    pub async fn hear(&mut self, length: usize) -> String {
        let mut heard = vec![0; length];
        self.program.read_exact(&mut heard).await.expect("the terminal types");
        String::from_utf8(heard).expect("text")
    }

    /// Ends it as a program does: its end of the line goes first.
    pub async fn exit(self, ending: Ending) -> Terminal {
        let Self { terminal, program, .. } = self;
        drop(program);
        terminal.hung_up().await;
        terminal.end(ending);
        terminal
    }
}

/// Waits for a screen on which `holds`.
pub async fn until(terminal: &Terminal, holds: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut viewer = terminal.attach();
    loop {
        let text = terminal.look(windlass_terminal::Screen::text);
        if holds(&text) {
            return text;
        }
        assert!(viewer.next().await.is_some(), "it ended with {text:?}");
    }
}
