//! Everything that happens, told to a thousand listeners: how many events a second reach all of them when as much happens as can,
//! and how long one takes to reach the last of them when little does. Beside it the same bytes written to as many sockets by a
//! bare loop, read by the same listeners.

#![expect(clippy::disallowed_methods, reason = "listeners have an executor of their own, and read the clock")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use windlass_domain::Wall;

use crate::figures::Spread;
use crate::measure::creating::create;
use crate::service::{Service, Setup};

pub const LISTENERS: usize = 1_000;
/// Sockets of the listeners, and what else a process has open.
const FILES: u64 = LISTENERS as u64 + 200;
/// When as much happens as can: fewer events than a listener may be behind.
const AT_ONCE: usize = 400;
const CREATORS: usize = 4;
/// When little happens: so many, so far apart.
const APART: usize = 60;
const PAUSE: Duration = Duration::from_millis(100);
/// Of the bare loop.
const BARE_EVENTS: u64 = 2_000;
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// To all listeners together.
    pub per_s: f64,
    pub bare_per_s: f64,
    /// Of the server, for an event to one listener.
    pub cpu_micros: f64,
    pub bare_cpu_micros: f64,
    /// Milliseconds from when an event was written to when the last listener has it.
    pub to_last: Spread,
    pub kb_per_listener: f64,
}

pub fn measure(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Figures> {
    allow_files()?;
    let data_dir = tempfile::tempdir_in(scratch)?;
    let service = setup.start(data_dir.path(), &["--no-work"], "")?;
    let mut client = service.client()?;
    create(&mut client)?;
    let before = service.resident_mb();
    let listeners =
        Listeners::to(&service.address, &format!("/v1/events HTTP/1.1\r\nauthorization: Bearer {}", service.token))?;
    let kb_per_listener = (service.resident_mb() - before) * 1024.0 / LISTENERS as f64;

    let begun = position(&service, 0)?;
    for _ in 0..APART {
        create(&mut client)?;
        std::thread::sleep(PAUSE);
    }
    let first = listeners.all_up_to(position(&service, begun)?)?;
    let to_last = first.range(begun + 1..).map(|(_, event)| event.took()).collect();

    let (begun, cpu) = (position(&service, 0)?, service.mark());
    std::thread::scope(|scope| {
        let creating: Vec<_> = (0..CREATORS).map(|_| scope.spawn(|| create_some(&service))).collect();
        creating.into_iter().try_for_each(|one| one.join().expect("a client does not panic"))
    })?;
    let events = listeners.all_up_to(position(&service, begun)?)?;
    let cpu = service.mark().since(cpu).cpu;
    let burst: Vec<&Event> = events.range(begun + 1..).map(|(_, event)| event).collect();
    let (delivered, seconds) = delivered(&burst)?;
    drop(service);

    let (bare_per_s, bare_cpu_micros) = bare(&burst)?;
    Ok(Figures {
        per_s: delivered / seconds,
        bare_per_s,
        cpu_micros: cpu.as_secs_f64() * 1e6 / delivered,
        bare_cpu_micros,
        to_last: Spread::in_millis(to_last),
        kb_per_listener,
    })
}

/// For this process and those that it starts.
fn allow_files() -> anyhow::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    anyhow::ensure!(
        hard >= FILES,
        "{LISTENERS} listeners need {FILES} open files, and {hard} are allowed: raise `ulimit -Hn`"
    );
    Ok(setrlimit(Resource::RLIMIT_NOFILE, soft.max(FILES), hard)?)
}

fn create_some(service: &Service) -> anyhow::Result<()> {
    let mut client = service.client()?;
    (0..AT_ONCE / CREATORS).try_for_each(|_| create(&mut client))
}

/// Of the last event there is, after this one.
fn position(service: &Service, after: u64) -> anyhow::Result<u64> {
    let mut stream = TcpStream::connect(&service.address)?;
    let (host, token) = (&service.address, &service.token);
    write!(
        stream,
        "GET /v1/events?after={after}&until_now=true HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\n\r\n"
    )?;
    let mut told = String::new();
    stream.read_to_string(&mut told)?;
    let ids = told.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok());
    Ok(ids.max().unwrap_or(after))
}

/// Events to single listeners, and the seconds from when the first was written to when the last of them was there.
fn delivered(events: &[&Event]) -> anyhow::Result<(f64, f64)> {
    let begun = events.iter().map(|event| event.written).min().context("nothing happened")?;
    let ended = events.iter().map(|event| event.last).max().context("nothing happened")?;
    Ok(((events.len() * LISTENERS) as f64, ended.saturating_sub(begun).as_secs_f64()))
}

/// The same to as many sockets, by a loop that writes and does nothing else.
fn bare(like: &[&Event]) -> anyhow::Result<(f64, f64)> {
    let size = like.iter().map(|event| event.bytes).sum::<usize>() / like.len().max(1);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    let (go, wait) = channel::<()>();
    let writing = std::thread::spawn(move || -> anyhow::Result<(Duration, Vec<TcpStream>)> {
        let mut streams = Vec::new();
        for _ in 0..LISTENERS {
            let (mut stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            stream.write_all(b": listening\n\n")?;
            streams.push(stream);
        }
        wait.recv()?;
        let before = thread_cpu();
        for position in 1..=BARE_EVENTS {
            let at = Wall::from_millis(now().as_millis().try_into()?).to_rfc3339();
            let mut event = format!("id: {position}\ndata: {{\"at\":\"{at}\",\"");
            event.extend(std::iter::repeat_n('x', size.saturating_sub(event.len() + 2)));
            event.push_str("\n\n");
            for stream in &mut streams {
                stream.write_all(event.as_bytes())?;
            }
        }
        // Left open: what was written and not read yet would be lost with them.
        Ok((thread_cpu().saturating_sub(before), streams))
    });
    let listeners = Listeners::to(&address, "/ HTTP/1.1")?;
    go.send(())?;
    let events = listeners.all_up_to(BARE_EVENTS)?;
    let (cpu, _open) = writing.join().expect("it does not panic")?;
    let (delivered, seconds) = delivered(&events.values().collect::<Vec<_>>())?;
    Ok((delivered / seconds, cpu.as_secs_f64() * 1e6 / delivered))
}

fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// What became of an event.
#[derive(Debug, Clone, Default)]
struct Event {
    heard: usize,
    /// Since 1970: when its time was taken, and when the last listener that has it had it.
    written: Duration,
    last: Duration,
    bytes: usize,
}

impl Event {
    fn took(&self) -> Duration {
        self.last.saturating_sub(self.written)
    }
}

type Events = BTreeMap<u64, Event>;

/// A thousand connections, read by one thread.
struct Listeners {
    questions: Sender<u64>,
    answers: Receiver<anyhow::Result<Events>>,
}

impl Listeners {
    /// Returns when all of them listen.
    fn to(address: &str, request: &str) -> anyhow::Result<Self> {
        let (questions, asked) = channel();
        let (tell, answers) = channel();
        let mut streams = Vec::new();
        for _ in 0..LISTENERS {
            let mut stream = TcpStream::connect(address)?;
            write!(stream, "GET {request}\r\nhost: {address}\r\n\r\n")?;
            streams.push(stream);
        }
        std::thread::spawn(move || {
            let told = listen(streams, &asked, &tell);
            // Who asked is gone when this fails.
            told.map_or_else(|error| drop(tell.send(Err(error))), |()| {});
        });
        let listeners = Self { questions, answers };
        listeners.answers.recv_timeout(PATIENCE).context("the listeners are not greeted")??;
        Ok(listeners)
    }

    /// What is known of all events, once every listener has had this one.
    fn all_up_to(&self, position: u64) -> anyhow::Result<Events> {
        self.questions.send(position).context("nobody listens any more")?;
        let events = self.answers.recv_timeout(PATIENCE).context("an event does not reach all listeners")??;
        for (position, event) in &events {
            anyhow::ensure!(event.heard == LISTENERS, "event {position} has reached {} of {LISTENERS}", event.heard);
        }
        Ok(events)
    }
}

fn listen(streams: Vec<TcpStream>, asked: &Receiver<u64>, tell: &Sender<anyhow::Result<Events>>) -> anyhow::Result<()> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let heard = Rc::new(RefCell::new(Heard::default()));
    let local = tokio::task::LocalSet::new();
    for stream in streams {
        let heard = Rc::clone(&heard);
        local.spawn_local(async move {
            let ended = follow(stream, &heard).await;
            heard
                .borrow_mut()
                .ended
                .push(ended.err().map_or_else(|| "it was cut off".to_owned(), |error| error.to_string()));
        });
    }
    local.block_on(&executor, async {
        let mut wanted = None;
        let mut is_greeted = false;
        loop {
            // Only what is there to be read moves anything on.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let heard = heard.borrow();
            anyhow::ensure!(heard.ended.is_empty(), "{} listeners ended: {:?}", heard.ended.len(), heard.ended.first());
            if !is_greeted && heard.greeted == LISTENERS {
                is_greeted = true;
                tell.send(Ok(Events::new()))?;
            }
            wanted = match asked.try_recv() {
                Ok(position) => Some(position),
                Err(std::sync::mpsc::TryRecvError::Empty) => wanted,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return Ok(()),
            };
            let is_there = |position| heard.events.get(&position).is_some_and(|event| event.heard == LISTENERS);
            if wanted.is_some_and(is_there) {
                wanted = None;
                tell.send(Ok(heard.events.clone()))?;
            }
        }
    })
}

#[derive(Default)]
struct Heard {
    greeted: usize,
    events: Events,
    /// Why, of listeners that should go on.
    ended: Vec<String>,
}

async fn follow(stream: TcpStream, heard: &RefCell<Heard>) -> anyhow::Result<()> {
    stream.set_nonblocking(true)?;
    let stream = tokio::net::TcpStream::from_std(stream)?;
    let (mut piece, mut rest, mut position) = (vec![0; 64 << 10], Vec::new(), 0);
    loop {
        stream.readable().await?;
        let read = match stream.try_read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error.into()),
        };
        rest.extend_from_slice(&piece[..read]);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let now = now();
        let mut heard = heard.borrow_mut();
        for line in rest[..whole].split(|byte| *byte == b'\n') {
            heard.line(line, &mut position, now);
        }
        rest.drain(..whole);
    }
}

impl Heard {
    /// Of one listener, who is at this position.
    fn line(&mut self, line: &[u8], position: &mut u64, now: Duration) {
        if line.starts_with(b": listening") {
            self.greeted += 1;
        } else if let Some(id) = line.strip_prefix(b"id: ") {
            *position = std::str::from_utf8(id).ok().and_then(|id| id.trim().parse().ok()).unwrap_or_default();
        } else if let Some(data) = line.strip_prefix(b"data: ") {
            let event = self.events.entry(*position).or_insert_with(|| Event {
                written: written(data),
                bytes: line.len() + 40,
                ..Event::default()
            });
            event.heard += 1;
            event.last = now;
        }
    }
}

/// The time that stands at the beginning of an event.
fn written(data: &[u8]) -> Duration {
    let at = data.strip_prefix(br#"{"at":""#).and_then(|rest| rest.get(..24));
    let at = at.and_then(|at| Wall::from_rfc3339(std::str::from_utf8(at).ok()?).ok());
    Duration::from_millis(at.map(Wall::as_millis).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_counted_for_each_listener_and_timed_by_the_last() {
        let mut heard = Heard::default();
        let (mut one, mut other) = (0, 0);
        let millis = Duration::from_millis;
        let data = br#"data: {"at":"1970-01-01T00:00:01.500Z","data":{}}"#;
        for (position, now) in [(&mut one, millis(1_510)), (&mut other, millis(1_530))] {
            for line in [b": listening".as_slice(), b"1a3\r", b"id: 34", b"event: record", data] {
                heard.line(line, position, now);
            }
        }
        let event = &heard.events[&34];
        assert_eq!((heard.greeted, event.heard, event.took()), (2, 2, millis(30)));
    }
}
