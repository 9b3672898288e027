//! What happened in a terminal, and when, as an asciicast of version 2: a header, and a line for everything that was printed and
//! every other size. What is typed is never kept: a program shows what it wants seen of it. Whoever is killed while they write leaves what is readable up to there.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::size::Size;

/// No line of a recording is longer: what a program prints at once is less.
const LONGEST_LINE: usize = 1 << 20;

/// Of a recording that is kept in a file.
const LONGEST: u64 = 256 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u8,
    width: u16,
    height: u16,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    Printed(String),
    Resized(Size),
    /// A kind that is not kept here, as what was typed, which others keep.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Since the beginning.
    pub at: Duration,
    pub happened: Happened,
}

pub struct Recorder {
    out: Box<dyn Write + Send>,
}

impl Recorder {
    /// `began` in seconds since 1970.
    pub fn begin(out: Box<dyn Write + Send>, size: Size, began: u64, title: &str) -> io::Result<Self> {
        let title = (!title.is_empty()).then(|| title.to_owned());
        let header = Header { version: 2, width: size.cols, height: size.rows, timestamp: Some(began), title };
        let mut recorder = Self { out };
        recorder.line(&serde_json::to_string(&header)?)?;
        Ok(recorder)
    }

    /// Goes on with a recording, or begins one, in a file that only its owner may read. With the time that it has come to: what is
    /// added is to be later. A program that is started again stands on an empty screen.
    pub fn continue_in(path: &Path, size: Size, began: u64, title: &str) -> io::Result<(Self, Duration)> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let Some((end, at)) = end_of(&mut file)? else {
            file.set_len(0)?;
            let out = Box::new(Bounded { file, left: LONGEST });
            return Ok((Self::begin(out, size, began, title)?, Duration::ZERO));
        };
        // Half a line is of somebody who was killed there.
        file.set_len(end)?;
        let left = LONGEST.saturating_sub(end);
        let mut recorder = Self { out: Box::new(Bounded { file, left }) };
        recorder.add(at, &Happened::Resized(size))?;
        recorder.add(at, &Happened::Printed("\u{1b}c".to_owned()))?;
        Ok((recorder, at))
    }

    pub fn add(&mut self, at: Duration, happened: &Happened) -> io::Result<()> {
        let (kind, data) = match happened {
            Happened::Printed(text) => ("o", text.clone()),
            Happened::Resized(size) => ("r", size.to_string()),
            Happened::Other => return Ok(()),
        };
        self.line(&serde_json::to_string(&(micros(at), kind, data))?)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// In one write, so that a line is there or not.
    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(format!("{line}\n").as_bytes())
    }
}

/// A file that takes so much and no more: a program that prints for ever fills no disk.
struct Bounded {
    file: File,
    left: u64,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| io::Error::other(format!("it is as long as a recording may be, {} MiB", LONGEST >> 20)))?;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Where the last whole line ends, and when what it tells of was. Nothing where it is no recording.
fn end_of(file: &mut File) -> io::Result<Option<(u64, Duration)>> {
    file.rewind()?;
    let Ok(mut recording) = Recording::open(BufReader::new(&mut *file)) else { return Ok(None) };
    let (mut end, mut at) = (recording.upto, Duration::ZERO);
    while let Some(Ok(moment)) = recording.next() {
        (end, at) = (recording.upto, moment.at);
    }
    Ok(Some((end, at)))
}

/// As seconds, to the microsecond.
fn micros(time: Duration) -> f64 {
    let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    f64::from(seconds) + f64::from(time.subsec_micros()) / 1e6
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Recorder").finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is empty, and no recording")]
    Empty,
    #[error("line 1 is no header of an asciicast: {0}")]
    NoHeader(serde_json::Error),
    #[error("it is an asciicast of version {0}, and only version 2 is read")]
    Version(u8),
    #[error("line {0} is no event of an asciicast")]
    NoEvent(usize),
    #[error("line {0} is longer than anything in a recording")]
    TooLong(usize),
}

/// A recording as it is read, one moment after the other.
pub struct Recording<R> {
    from: R,
    pub size: Size,
    pub title: Option<String>,
    line: usize,
    /// How many bytes are read.
    upto: u64,
}

impl<R: BufRead> Recording<R> {
    pub fn open(mut from: R) -> Result<Self, Unreadable> {
        let first = line_of(&mut from, 1)?.ok_or(Unreadable::Empty)?;
        let header: Header = serde_json::from_str(&first).map_err(Unreadable::NoHeader)?;
        if header.version != 2 {
            return Err(Unreadable::Version(header.version));
        }
        let size = Size { cols: header.width, rows: header.height }.within_bounds();
        let upto = first.len() as u64;
        Ok(Self { from, size, title: header.title, line: 1, upto })
    }

    fn read(&mut self) -> Result<Option<Moment>, Unreadable> {
        self.line += 1;
        let Some(line) = line_of(&mut self.from, self.line)? else { return Ok(None) };
        match moment(&line) {
            Some(moment) => {
                // One without its end was being written.
                self.upto += if line.ends_with('\n') { line.len() as u64 } else { 0 };
                Ok(Some(moment))
            }
            // Whoever wrote it was killed there.
            None if self.from.fill_buf()?.is_empty() => Ok(None),
            None => Err(Unreadable::NoEvent(self.line)),
        }
    }
}

fn moment(line: &str) -> Option<Moment> {
    let (at, kind, data): (f64, String, String) = serde_json::from_str(line).ok()?;
    let at = Duration::try_from_secs_f64(at).ok()?;
    let happened = match kind.as_str() {
        "o" => Happened::Printed(data),
        "r" => {
            let (cols, rows) = data.split_once('x')?;
            Happened::Resized(Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? }.within_bounds())
        }
        _ => Happened::Other,
    };
    Some(Moment { at, happened })
}

fn line_of(from: &mut impl BufRead, number: usize) -> Result<Option<String>, Unreadable> {
    let mut line = Vec::new();
    io::Read::take(&mut *from, LONGEST_LINE as u64).read_until(b'\n', &mut line)?;
    if line.len() == LONGEST_LINE && line.last() != Some(&b'\n') {
        return Err(Unreadable::TooLong(number));
    }
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}

impl<R: BufRead> Iterator for Recording<R> {
    type Item = Result<Moment, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl<R> std::fmt::Debug for Recording<R> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Recording").field("size", &self.size).field("title", &self.title).finish_non_exhaustive()
    }
}
