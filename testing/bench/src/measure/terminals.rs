//! What a screen costs: how fast everything that a program prints goes through the emulator and into a recording that passed the redactor, as
//! under `windlass run --terminal`, beside `alacritty_terminal` alone, which keeps nothing; and the memory of a hundred screens.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::term::{Config, Term, test::TermSize};
use alacritty_terminal::vte::ansi::Processor;
use serde::{Deserialize, Serialize};
use windlass_domain::Secret;
use windlass_policy::{Redactor, Stream};
use windlass_terminal::{BoxFuture, Decoder, Line, Options, Recorder, Scrub, Size, Terminal};

use crate::arguments::Terminals as Arguments;
use crate::figures::median;
use crate::measure::many_terminals;

pub const SIZE: Size = Size { cols: 120, rows: 40 };
const TURNS: usize = 5;
const PRINTED: usize = 16 << 20;
/// As a pseudo-terminal hands it over.
const PIECE: usize = 4 << 10;

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub mb_per_s: f64,
    /// The same without recording.
    pub unrecorded_mb_per_s: f64,
    pub yardstick_mb_per_s: f64,
    pub kb_per_terminal: f64,
}

pub fn run(options: &Arguments) -> anyhow::Result<()> {
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    // First, while the process is small.
    let kb_per_terminal = executor.block_on(many_terminals::kb_each(&options.windlass, &options.scratch))?;
    let printed = session(PRINTED);
    let (mut recorded, mut unrecorded, mut yardstick) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that a busy moment falls on all.
    for turn in 0..TURNS {
        let cast = options.scratch.join(format!("{turn}.cast"));
        recorded.push(shown(&executor, &printed, Some(&cast))?);
        unrecorded.push(shown(&executor, &printed, None)?);
        yardstick.push(alone(&printed));
        std::fs::remove_file(&cast)?;
    }
    let mb_per_s = |seconds: Vec<f64>| printed.len() as f64 / 1e6 / median(seconds);
    let figures = Figures {
        mb_per_s: mb_per_s(recorded),
        unrecorded_mb_per_s: mb_per_s(unrecorded),
        yardstick_mb_per_s: mb_per_s(yardstick),
        kb_per_terminal,
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// What a coding agent's screen prints, over and over: coloured words, boxes, lines written anew, and what scrolls by.
pub fn session(length: usize) -> Vec<u8> {
    let mut printed = String::with_capacity(length + 1_024);
    let mut number = 0_usize;
    while printed.len() < length {
        number += 1;
        let colour = 31 + number % 7;
        let _infallible = match number % 5 {
            0 => write!(printed, "\u{1b}[{colour}m●\u{1b}[0m \u{1b}[1mRead\u{1b}[22m(src/file_{number}.rs)\r\n"),
            1 => write!(printed, "\u{1b}[2K\u{1b}[1G\u{1b}[38;5;{}m✻ Thinking… ({number}s)\u{1b}[0m", number % 256),
            2 => write!(printed, "\r\n  \u{1b}[48;2;20;60;20m+ let load = drum.haul({number}); // größer\u{1b}[0m\r\n"),
            3 => write!(printed, "╭{}╮\r\n│ > {number:<36} │\r\n╰{}╯\r\n", "─".repeat(40), "─".repeat(40)),
            _ => write!(
                printed,
                "\u{1b}[3A\u{1b}[0J\u{1b}[3B{}\r\n",
                "A windlass hauls with a drum and a pawl. ".repeat(2)
            ),
        };
    }
    printed.into_bytes()
}

/// Prints what it holds, and hangs up.
struct Tape(Mutex<(Vec<u8>, usize)>);

impl Tape {
    fn new(printed: &[u8]) -> Arc<Self> {
        Arc::new(Self(Mutex::new((printed.to_vec(), 0))))
    }
}

impl Line for Tape {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async {
            let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (printed, from) = &mut *left;
            let piece = printed[*from..].iter().copied().take(PIECE).collect::<Vec<u8>>();
            *from += piece.len();
            Ok(piece)
        })
    }

    fn write<'a>(&'a self, _: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn resize(&self, _: Size) -> io::Result<()> {
        Ok(())
    }
}

/// As Windlass has it.
struct Redacting(Option<Stream>, Decoder);

impl Scrub for Redacting {
    fn feed(&mut self, text: &str) -> String {
        let mut out = Vec::new();
        if let Some(stream) = &mut self.0 {
            stream.push(text.as_bytes(), &mut out);
        }
        self.1.feed(&out)
    }

    fn finish(&mut self) -> String {
        let mut out = Vec::new();
        if let Some(stream) = self.0.take() {
            stream.finish(&mut out);
        }
        self.1.feed(&out) + &self.1.finish()
    }
}

pub fn options(cast: Option<&Path>) -> anyhow::Result<Options> {
    let recorder = cast.map(|path| Recorder::continue_in(path, SIZE, 0, "bench")).transpose()?;
    let redactor = Redactor::new([&Secret::new("a-secret-that-is-never-printed".to_owned())]);
    let begun = Instant::now();
    Ok(Options {
        size: SIZE,
        scrub: recorder.is_some().then(|| Box::new(Redacting(Some(redactor.stream()), Decoder::default())) as _),
        recorder: recorder.map(|(recorder, _)| recorder),
        clock: Box::new(move || begun.elapsed()),
        kill: Box::new(|| {}),
    })
}

/// Seconds until all of it is on the screen and, where it is kept, in the file.
fn shown(executor: &tokio::runtime::Runtime, printed: &[u8], cast: Option<&Path>) -> anyhow::Result<f64> {
    let (tape, options) = (Tape::new(printed), options(cast)?);
    let begun = Instant::now();
    let (terminal, carrying) = Terminal::open(tape, options);
    executor.block_on(carrying);
    let seconds = begun.elapsed().as_secs_f64();
    anyhow::ensure!(terminal.trouble().is_none(), "the recording broke off: {:?}", terminal.trouble());
    Ok(seconds)
}

fn alone(printed: &[u8]) -> f64 {
    let size = TermSize::new(usize::from(SIZE.cols), usize::from(SIZE.rows));
    let mut term = Term::new(Config::default(), &size, VoidListener);
    let mut parser: Processor = Processor::new();
    let begun = Instant::now();
    for piece in printed.chunks(PIECE) {
        parser.advance(&mut term, piece);
    }
    begun.elapsed().as_secs_f64()
}
