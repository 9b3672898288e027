//! Standard output. One thread owns it and everybody else puts whole lines into its queue, so that a reader who does not read
//! never stops the work, its limits or Ctrl-C. What happens when the queue is full is the sender's choice: those who have
//! nothing else to do wait, records for a script are kept up to a bound beyond which the work is stopped, and lines for a
//! person are left out, and it is said how many.
//!
//! A short line for a pipe or a file that takes it at once is written by whoever sends it: waking a thread costs more.
//!
//! A reader that has gone away (`| head`) is no error. Every other failed write is, and is told at the end.

#![expect(clippy::disallowed_methods, reason = "the thread that owns standard output lives as long as the program")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use windlass_domain::Runtime;

use crate::interrupts::Interrupts;

/// What to do with a line for which there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    Wait,
    /// Every line counts: there is much more room, and when that is used up too the output is broken.
    Keep,
    LeaveOut,
}

/// Why not everything was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// As with `| head`: whoever closes a pipe has read enough.
    #[error("the reader has gone away")]
    Gone,
    #[error("standard output cannot be written: {0}")]
    Failed(String),
    #[error("nobody reads standard output: {} MiB of it wait", .0 >> 20)]
    Overrun(usize),
    #[error("nobody reads standard output: the last {0} bytes of it were left out")]
    Unread(usize),
}

#[derive(Debug, Clone, Copy)]
struct Room {
    for_people: usize,
    for_records: usize,
}

const ROOM: Room = Room { for_people: 1 << 20, for_records: 64 << 20 };

/// A pipe that says it can be written takes this much without keeping anybody waiting.
const AT_ONCE: usize = 4_096;

/// A write of more than this may take long without anybody seeing that it gets on.
const PIECE: usize = 16 << 10;

pub struct Output {
    shared: Arc<Shared>,
    room: Room,
    /// A pipe or a file, which can be asked whether it would keep us waiting. A terminal cannot.
    quick: Option<File>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to write.
    filled: Condvar,
    /// There is more room than there was.
    emptied: Condvar,
    /// All is written, or nothing more will be.
    settled: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    /// Not yet written, what is being written now included.
    bytes: usize,
    written: u64,
    left_out: usize,
    trouble: Option<Trouble>,
    /// How long to wait at the end for a reader that does not read; none is for ever.
    patience: Option<Duration>,
    interrupts: Option<Interrupts>,
    /// Until the first line.
    idle_writer: Option<Box<dyn Write + Send>>,
}

/// The program's own.
pub fn output() -> &'static Output {
    static OUTPUT: OnceLock<Output> = OnceLock::new();
    OUTPUT.get_or_init(|| match std::io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => {
            let file = File::from(descriptor);
            let quick = quick(&file);
            Output { quick, ..Output::new(Box::new(Descriptor(file)), ROOM) }
        }
        Err(error) => {
            let closed = Output::new(Box::new(std::io::sink()), ROOM);
            closed.shared.lock().trouble = Some(Trouble::Failed(error.to_string()));
            closed
        }
    })
}

impl Output {
    fn new(writer: Box<dyn Write + Send>, room: Room) -> Self {
        let state = State { idle_writer: Some(writer), ..State::default() };
        let shared = Shared {
            state: Mutex::new(state),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            settled: Notify::new(),
        };
        Self { shared: Arc::new(shared), room, quick: None }
    }

    /// Takes whole lines, to be written in the order in which they come.
    pub fn send(&self, lines: Vec<u8>, when_full: WhenFull) {
        let mut state = self.shared.lock();
        if when_full == WhenFull::Wait {
            while state.bytes >= self.room.for_people && state.trouble.is_none() {
                state = self.shared.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        if state.trouble.is_some() {
            return;
        }
        let after = state.bytes + lines.len();
        match when_full {
            WhenFull::Keep if after > self.room.for_records => {
                state.trouble = Some(Trouble::Overrun(state.bytes));
                return;
            }
            WhenFull::LeaveOut if after > self.room.for_people => {
                state.left_out += lines.iter().filter(|byte| **byte == b'\n').count();
                return;
            }
            _ => {}
        }
        if state.bytes == 0 && state.left_out == 0 && self.wrote_at_once(&lines) {
            return;
        }
        if state.left_out > 0 {
            let count = std::mem::take(&mut state.left_out);
            let were = if count == 1 { "line was" } else { "lines were" };
            state.push(format!("… {count} {were} left out: nobody read in time\n").into_bytes());
        }
        state.push(lines);
        if let Some(writer) = state.idle_writer.take() {
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new().name("output".to_owned()).spawn(move || shared.write_all(writer));
            if let Err(error) = started {
                state.give_up(Trouble::Failed(error.to_string()));
            }
        }
        self.shared.filled.notify_one();
    }

    /// Only where nothing waits. What goes wrong is left for the thread to find.
    fn wrote_at_once(&self, lines: &[u8]) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(mut file) = self.quick.as_ref().filter(|_| lines.len() <= AT_ONCE) else { return false };
        let mut ready = [PollFd::new(file, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let can = poll(&mut ready, Some(&now)).is_ok() && ready[0].revents() == PollFlags::OUT;
        can && matches!(file.write(lines), Ok(written) if written == lines.len())
    }

    /// Whether what is sent now is seen soon.
    pub fn is_read(&self) -> bool {
        self.shared.lock().bytes < PIECE
    }

    /// Nothing that is sent now is written.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().trouble.is_some()
    }

    pub fn is_overrun(&self) -> bool {
        matches!(self.shared.lock().trouble, Some(Trouble::Overrun(_)))
    }

    /// A reader that takes nothing for this long at the end is waited for no longer.
    pub fn set_patience(&self, patience: Duration) {
        self.shared.lock().patience = Some(patience);
    }

    /// Signals that were looked for until now are looked for at the end, without a gap between.
    pub fn heed(&self, interrupts: Interrupts) {
        self.shared.lock().interrupts = Some(interrupts);
    }

    /// Waits until everything is written: for as long as that gets on, or until Ctrl-C.
    pub async fn settle(&self, runtime: &dyn Runtime) -> Result<(), Trouble> {
        if self.shared.lock().bytes > 0 {
            let heeded = self.shared.lock().interrupts.take();
            let interrupts = heeded.map_or_else(Interrupts::new, Ok);
            self.wait(runtime, &mut interrupts.map_err(|error| Trouble::Failed(error.to_string()))?).await;
        }
        self.shared.lock().trouble.clone().map_or(Ok(()), Err)
    }

    async fn wait(&self, runtime: &dyn Runtime, interrupts: &mut Interrupts) {
        loop {
            let (bytes, written, patience) = {
                let state = self.shared.lock();
                (state.bytes, state.written, state.patience)
            };
            if bytes == 0 {
                return;
            }
            let gave_up = async {
                match patience {
                    Some(patience) => runtime.sleep(patience).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.shared.settled.notified() => {}
                () = interrupts.next() => return self.shared.lock().leave(),
                () = gave_up => {
                    let mut state = self.shared.lock();
                    if state.written == written {
                        return state.leave();
                    }
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's whole life.
    fn write_all(&self, mut writer: Box<dyn Write + Send>) {
        loop {
            let mut state = self.lock();
            let lines = loop {
                match state.waiting.pop_front() {
                    Some(lines) => break lines,
                    None => state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            if let Err(trouble) = self.write(&mut writer, &lines) {
                self.lock().give_up(trouble);
                self.emptied.notify_all();
                self.settled.notify_one();
                return;
            }
        }
    }

    fn write(&self, writer: &mut dyn Write, lines: &[u8]) -> Result<(), Trouble> {
        for piece in lines.chunks(PIECE) {
            writer.write_all(piece).and_then(|()| writer.flush()).map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe => Trouble::Gone,
                _ => Trouble::Failed(error.to_string()),
            })?;
            let mut state = self.lock();
            state.bytes -= piece.len();
            state.written += piece.len() as u64;
            if state.bytes == 0 {
                self.settled.notify_one();
            }
            self.emptied.notify_all();
        }
        Ok(())
    }
}

impl State {
    fn push(&mut self, lines: Vec<u8>) {
        self.bytes += lines.len();
        self.waiting.push_back(lines);
    }

    /// Nothing more can be written.
    fn give_up(&mut self, trouble: Trouble) {
        self.waiting.clear();
        self.bytes = 0;
        self.trouble.get_or_insert(trouble);
    }

    /// Nobody waits any more; the thread goes with the program.
    fn leave(&mut self) {
        self.trouble.get_or_insert(Trouble::Unread(self.bytes));
    }
}

fn quick(file: &File) -> Option<File> {
    let kind = file.metadata().ok()?.file_type();
    (kind.is_file() || kind.is_fifo()).then(|| file.try_clone().ok()).flatten()
}

/// Standard output without a buffer or a lock: while its thread waits for a reader, the program must be able to end.
struct Descriptor(File);

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            match self.0.write(bytes) {
                // Somebody who shares it has made it so.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None)?;
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use windlass_runtime::{Threads, TokioRuntime, executor};

    use super::*;

    /// A reader that takes one write at a time, when it is told to.
    struct Reader {
        leave: Sender<std::io::Result<()>>,
        read: Receiver<Vec<u8>>,
    }

    struct Pipe {
        leave: Receiver<std::io::Result<()>>,
        read: Sender<Vec<u8>>,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.leave.recv().unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()))?;
            self.read.send(bytes.to_vec()).expect("the test reads");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn pipe() -> (Output, Reader) {
        let ((leave, left), (reads, read)) = (channel(), channel());
        let room = Room { for_people: 10, for_records: 20 };
        (Output::new(Box::new(Pipe { leave: left, read: reads }), room), Reader { leave, read })
    }

    impl Reader {
        fn takes(&self) -> String {
            self.leave.send(Ok(())).expect("the thread lives");
            String::from_utf8(self.read.recv().expect("something is written")).expect("text")
        }
    }

    fn settled(output: &Output) -> Result<(), Trouble> {
        let executor = executor(Threads::One).expect("an executor");
        executor.block_on(async { output.settle(&TokioRuntime::current()).await })
    }

    #[test]
    fn lines_for_people_are_left_out_while_nobody_reads_and_it_is_said() {
        let (output, reader) = pipe();
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            output.send(line.into(), WhenFull::LeaveOut);
        }
        assert_eq!((reader.takes(), reader.takes()), ("one\n".to_owned(), "two\n".to_owned()));
        while !output.shared.lock().waiting.is_empty() || output.shared.lock().bytes > 0 {}
        output.send("five\n".into(), WhenFull::LeaveOut);
        assert_eq!(reader.takes(), "… 2 lines were left out: nobody read in time\n");
        assert_eq!(reader.takes(), "five\n");
        assert_eq!(settled(&output), Ok(()));
    }

    #[test]
    fn records_are_all_kept_until_there_is_no_room_for_one_and_then_none_is() {
        let (output, reader) = pipe();
        for line in ["record 1\n", "record 2\n"] {
            output.send(line.into(), WhenFull::Keep);
        }
        assert!(!output.is_overrun());
        output.send("record 3\n".into(), WhenFull::Keep);
        assert!(output.is_overrun());
        output.send("4\n".into(), WhenFull::Keep);
        assert_eq!((reader.takes(), reader.takes()), ("record 1\n".to_owned(), "record 2\n".to_owned()));
        assert_eq!(settled(&output), Err(Trouble::Overrun(18)), "and no record after a gap");
        assert!(reader.read.try_recv().is_err());
    }

    #[test]
    fn a_reader_who_takes_nothing_is_not_waited_for_beyond_patience() {
        let (output, _reader) = pipe();
        output.send("one\n".into(), WhenFull::Keep);
        output.set_patience(Duration::from_millis(1));
        assert_eq!(settled(&output), Err(Trouble::Unread(4)));
    }

    #[test]
    fn a_reader_who_has_gone_is_told_apart_from_a_disk_that_is_full() {
        let (output, reader) = pipe();
        output.send("one\n".into(), WhenFull::Wait);
        drop(reader);
        assert_eq!(settled(&output), Err(Trouble::Gone));
        let (output, reader) = pipe();
        output.send("one\n".into(), WhenFull::Wait);
        reader.leave.send(Err(ErrorKind::StorageFull.into())).expect("the thread lives");
        assert!(matches!(settled(&output), Err(Trouble::Failed(_))));
        output.send("two\n".into(), WhenFull::Wait);
        assert_eq!(output.shared.lock().bytes, 0, "nothing is kept that can never be written");
    }

    #[test]
    fn a_pipe_with_room_is_written_at_once_and_a_full_one_by_the_thread_in_the_same_order() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let output = Output { quick: quick(&file), ..Output::new(Box::new(Descriptor(file)), ROOM) };
        let is_idle = || output.shared.lock().idle_writer.is_some();
        let line = |number: usize| format!("{number:0>width$}\n", width = AT_ONCE - 1).into_bytes();
        let mut sent = Vec::new();
        while is_idle() {
            sent.push(line(sent.len()));
            output.send(sent[sent.len() - 1].clone(), WhenFull::Keep);
        }
        assert!(sent.len() > 2, "some were written before the pipe was full");
        sent.push(line(sent.len()));
        output.send(sent[sent.len() - 1].clone(), WhenFull::Keep);
        let mut read = vec![0; sent.len() * AT_ONCE];
        std::io::Read::read_exact(&mut reader, &mut read).expect("all of it");
        assert_eq!(read, sent.concat());
        assert_eq!(settled(&output), Ok(()));
    }
}
