//! A terminal whose program is the test itself, over a pipe.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use windlass_terminal::{BoxFuture, Ending, Line, Options, Recorder, Size, Terminal};

pub struct Stage {
    pub terminal: Terminal,
    pub program: DuplexStream,
    pub sizes: Arc<Mutex<Vec<Size>>>,
    pub kills: Arc<Mutex<usize>>,
}

/// Our end of the pipe.
struct Pipe {
    from: tokio::sync::Mutex<ReadHalf<DuplexStream>>,
    to: tokio::sync::Mutex<WriteHalf<DuplexStream>>,
    sizes: Arc<Mutex<Vec<Size>>>,
}

impl Line for Pipe {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async {
            let mut piece = Vec::new();
            self.from.lock().await.read_buf(&mut piece).await?;
            Ok(piece)
        })
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async { self.to.lock().await.write_all(bytes).await })
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.sizes.lock().expect("nobody panics").push(size);
        Ok(())
    }
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
    let kill = Box::new(move || *killed.lock().expect("nobody panics") += 1);
    let line = Pipe { from: tokio::sync::Mutex::new(from), to: tokio::sync::Mutex::new(to), sizes: seen };
    let (terminal, carrying) = Terminal::open(Arc::new(line), change(Options { kill, ..options(SMALL, None) }));
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
