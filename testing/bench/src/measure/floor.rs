//! The floor: the least that an agent loop with a durable record can do. Send the whole history, read the answer, pretend to
//! run its tool, append both to the history and to SQLite with one synced commit. No product; nothing can be much faster.

#![expect(clippy::disallowed_methods, reason = "a bare loop has its own executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bytes::Bytes;
use http_body::Body as _;
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};

use crate::arguments::Floor;
use crate::process::{Mark, own_cpu, status_kb};

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Of the first loop, in nanoseconds: wall and processor time at each question.
    pub marks: Vec<(u64, u64)>,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub base_kb: u64,
    pub peak_kb: u64,
    pub stored_bytes: u64,
}

impl Figures {
    pub fn marks(&self) -> Vec<Mark> {
        let mark =
            |&(wall, cpu): &(u64, u64)| Mark { wall: Duration::from_nanos(wall), cpu: Duration::from_nanos(cpu) };
        self.marks.iter().map(mark).collect()
    }
}

const TOOLS: &str = r#"[{"type":"function","function":{"name":"read","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]"#;
const OPENING: &str =
    r#"{"role":"system","content":"You are a helpful agent."},{"role":"user","content":"Do as the script says."}"#;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Said<'a>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: std::borrow::Cow<'a, str>,
}

pub fn run(floor: &Floor) -> anyhow::Result<()> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let database = open(floor)?;
    let base_kb = status_kb(std::process::id(), "VmRSS:").unwrap_or_default();
    let (begun, cpu) = (Instant::now(), own_cpu());
    let loops = (0..floor.agents).map(|agent| one_loop(floor, agent, Rc::clone(&database), begun));
    let marks = executor.block_on(async {
        let local = tokio::task::LocalSet::new();
        local.run_until(futures_util::future::try_join_all(loops)).await
    })?;
    let (wall, cpu) = (begun.elapsed(), own_cpu() - cpu);
    database.execute_batch("pragma wal_checkpoint(truncate)")?;
    let figures = Figures {
        marks: marks.into_iter().next().unwrap_or_default(),
        wall_s: wall.as_secs_f64(),
        cpu_s: cpu.as_secs_f64(),
        base_kb,
        peak_kb: status_kb(std::process::id(), "VmHWM:").unwrap_or_default(),
        stored_bytes: std::fs::metadata(&floor.database)?.len(),
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

fn open(floor: &Floor) -> anyhow::Result<Rc<rusqlite::Connection>> {
    let database = rusqlite::Connection::open(&floor.database)?;
    database.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full;
         create table events (agent integer, seq integer, body text, primary key (agent, seq)) without rowid",
    )?;
    Ok(Rc::new(database))
}

async fn one_loop(
    floor: &Floor,
    agent: usize,
    database: Rc<rusqlite::Connection>,
    begun: Instant,
) -> anyhow::Result<Vec<(u64, u64)>> {
    let mut sender = connect(&floor.server).await?;
    let mut history = OPENING.to_owned();
    let mut marks = Vec::new();
    loop {
        marks.push((nanos(begun.elapsed()), nanos(own_cpu())));
        let body = format!(r#"{{"model":"{}","tools":{TOOLS},"messages":[{history}]}}"#, floor.model);
        let answer = ask(&mut sender, &floor.server, body).await?;
        let answer: Answer<'_> = serde_json::from_slice(&answer)?;
        let Some(call) = answer.choices.first().and_then(|choice| choice.message.tool_calls.first()) else {
            return Ok(marks);
        };
        let said = step(call, &floor.result)?;
        history.push_str(&said);
        let mut insert = database.prepare_cached("insert into events values (?, ?, ?)")?;
        insert.execute((agent as i64, marks.len() as i64, &said))?;
    }
}

fn step(call: &Call<'_>, result: &str) -> anyhow::Result<String> {
    let Call { id, function: Function { name, arguments } } = call;
    let (arguments, result) = (serde_json::to_string(arguments)?, serde_json::to_string(result)?);
    Ok(format!(
        r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":{result}}}"#
    ))
}

type Sender = SendRequest<Whole>;

async fn connect(server: &str) -> anyhow::Result<Sender> {
    let stream = tokio::net::TcpStream::connect(server).await.context("the model server cannot be reached")?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::task::spawn_local(connection);
    Ok(sender)
}

async fn ask(sender: &mut Sender, server: &str, body: String) -> anyhow::Result<Bytes> {
    let request = Request::post("/v1/chat/completions")
        .header("host", server)
        .header("content-type", "application/json")
        .body(Whole(Some(body.into())))?;
    let mut answer = sender.send_request(request).await?.into_body();
    let mut all = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut answer).poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            all.extend_from_slice(&data);
        }
    }
    Ok(all.into())
}

/// A body in one piece.
struct Whole(Option<Bytes>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}
