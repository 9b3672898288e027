//! `windlass serve`: takes requests over HTTP, and works on what they ask for. Asked to end it takes nothing new, answers what was
//! asked and ends what it has begun as far as the time it is given goes; the rest is others' to go on with.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use windlass_domain::{BoxFuture, CancelSignal, Canceller, Runtime, Stop};
use windlass_engine::{Watchers, WorkerOptions};
use windlass_runtime::TokioRuntime;
use windlass_server::auth::Names;
use windlass_server::redis::RedisDoor;
use windlass_server::{Drain, Limits, Live, Server, ServerParts, TerminalPlaces};

use super::drive::explain;
use super::load::read_to_work;
use super::serve_house::{ServedHouse, Wanted};
use super::streams::{self, templates};
use crate::arguments;
use crate::config::{Config, Reading, together};
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::open_files::{for_connections, raise};
use crate::redis::{self, Templates};
use crate::serving::{Door, Roots, path_objections};
use crate::show::{WorkerLog, output};
use crate::tokens::FileTokens;
use crate::wiring::{Windlass, create_private};

/// Of one token, unless the operator says otherwise.
const REQUESTS_PER_SECOND: u32 = 50;

pub async fn serve(arguments: arguments::Serve) -> anyhow::Result<Exit> {
    if arguments.concurrency == 0 {
        return Err(WrongUse::new("--concurrency must be at least 1").hint("to work on nothing, say --no-work").into());
    }
    // Before anything that takes a while: whoever is told to end while it begins ends as it would later.
    let interrupts = Interrupts::new()?;
    let log = WorkerLog::new(arguments.output);
    let Prepared { config, door, roots, templates } = prepared(&arguments).await?;
    create_private(&config.data_dir)?;
    let tokens = FileTokens::new(&config.data_dir, &config.user).telling(Arc::new(log.clone()));
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    tokens.ensure_own(&*runtime).map_err(WrongUse::from)?;
    let wanted = Wanted::of(&arguments, roots);
    let per_second = config.file.server.requests_per_second.unwrap_or(REQUESTS_PER_SECOND);
    let windlass = Windlass::open_to_work_on_many(config.clone(), Arc::new(log.clone())).await?;
    // A server that works on nothing reads and writes as well.
    windlass.engine.enlist().await.map_err(explain)?;
    let streams = streams::door(&config, templates, &windlass, Arc::new(log.clone()))?;
    let (drain, live) = (Drain::default(), Live::default());
    let house = ServedHouse::new(config, wanted, &windlass, &log);
    let server = open(&door, &windlass, &tokens, &log, (house, per_second, live.clone()), &drain).await?;
    let bound = server.local_addr()?;
    log.listens(&door.url(bound), &tokens.own_path());
    let streaming = stream(streams, &drain);
    let served = server.run(Duration::from_secs(arguments.drain));
    let serving = async {
        join(served, streaming).await;
    };
    let worked = until_told(&windlass, (&arguments, &live), (&log, interrupts), serving, &drain).await;
    windlass.observing.flush().await;
    let Some(worked) = worked else { return Ok(Exit::Stopped) };
    worked.map_err(explain)?;
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}

/// What it is served with, looked at as a whole before anything is opened.
struct Prepared {
    config: Config,
    door: Door,
    roots: Roots,
    templates: Option<Templates>,
}

/// Whoever mends one mistake should not meet the next at the next start.
async fn prepared(arguments: &arguments::Serve) -> anyhow::Result<Prepared> {
    let Reading { config, mut problems } = read_to_work().await?;
    let tokens = FileTokens::new(&config.data_dir, &config.user);
    problems.extend(tokens.objection().map(WrongUse::from));
    let named = tokens.named().map_err(|refused| problems.push(refused.into()));
    let door = Door::of(arguments, &config, named.ok().map(|named| !named.is_empty()));
    let roots = Roots::of(arguments, &config);
    problems.extend(redis::bad_address(&config));
    problems.extend(path_objections(&config));
    let templates = match templates(&config).await.map_err(anyhow::Error::downcast::<WrongUse>) {
        Ok(templates) => Ok(templates),
        Err(Ok(wrong)) => Err(vec![wrong]),
        Err(Err(broken)) => return Err(broken),
    };
    match (door, roots, templates) {
        (Ok(door), Ok(roots), Ok(templates)) if problems.is_empty() => {
            return Ok(Prepared { config, door, roots, templates });
        }
        (door, roots, templates) => {
            problems.extend([door.err(), roots.err(), templates.err()].into_iter().flatten().flatten());
        }
    }
    Err(together(problems).expect("something is wrong").into())
}

/// Until the drain begins.
async fn stream(streams: Option<RedisDoor>, drain: &Drain) {
    if let Some(streams) = streams {
        streams.run(drain).await;
    }
}

async fn open(
    door: &Door,
    windlass: &Windlass,
    tokens: &FileTokens,
    log: &WorkerLog,
    (house, requests_per_second, live): (ServedHouse, u32, Live),
    drain: &Drain,
) -> anyhow::Result<Server> {
    let parts = ServerParts {
        engine: windlass.engine.clone(),
        runtime: Arc::clone(&windlass.runtime),
        names: Names::new(door.hosts.clone()),
        tokens: Arc::new(tokens.clone()),
        journal: Arc::new(log.clone()),
        house: Arc::new(house),
        terminals: TerminalPlaces {
            sockets: windlass.screens.sockets.clone(),
            recordings: windlass.screens.recordings.clone(),
        },
        live,
        requests_per_second,
        limits: Limits { connections: for_connections(raise()), ..Limits::default() },
        tls: door.tls.clone(),
    };
    let address = door.address;
    let bound = Server::bind(address, parts, drain).await;
    Ok(bound.map_err(|error| WrongUse::new(format!("--listen {address}: {error}")).hint("name another port"))?)
}

/// Serves and works until asked to end. None: asked three times, it left everything as it was.
async fn until_told(
    windlass: &Windlass,
    (arguments, live): (&arguments::Serve, &Live),
    (log, mut interrupts): (&WorkerLog, Interrupts),
    serving: impl Future<Output = ()>,
    drain: &Drain,
) -> Option<Result<(), windlass_engine::Error>> {
    let canceller = Canceller::default();
    let mut working = work(windlass, (arguments, live), log, canceller.signal());
    let mut serving = pin!(serving);
    let (mut worked, mut is_served, mut asked) = (None, false, 0);
    let mut limit: BoxFuture<'static, ()> = Box::pin(std::future::pending());
    while worked.is_none() || !is_served {
        tokio::select! {
            ended = &mut working, if worked.is_none() => {
                // Whoever cannot work takes no requests either.
                drain.begin();
                worked = Some(ended);
            }
            () = &mut serving, if !is_served => is_served = true,
            () = &mut limit => {
                limit = Box::pin(std::future::pending());
                canceller.stop(Stop::LeaseLost);
            }
            () = interrupts.next() => {
                asked += 1;
                match asked {
                    1 => {
                        log.remark("takes nothing new, and ends what it has begun; again to leave that to others");
                        drain.begin();
                        canceller.stop(Stop::Pause);
                        limit = windlass.runtime.sleep(Duration::from_secs(arguments.drain));
                    }
                    2 => canceller.stop(Stop::LeaseLost),
                    _ => return None,
                }
            }
        }
    }
    output().heed(interrupts);
    worked
}

fn work<'a>(
    windlass: &'a Windlass,
    (arguments, live): (&arguments::Serve, &Live),
    log: &WorkerLog,
    stop: CancelSignal,
) -> BoxFuture<'a, Result<(), windlass_engine::Error>> {
    if arguments.no_work {
        return Box::pin(async move {
            stop.wait().await;
            Ok(())
        });
    }
    let options = WorkerOptions { concurrency: arguments.concurrency, ..WorkerOptions::default() };
    let (told, observing, live) = (log.clone(), windlass.observing.clone(), live.clone());
    let news = log.clone();
    let watchers = Watchers::new(move |tenant, task| live.watch(tenant, task, observing.watch(task, told.take(task))));
    let watchers = watchers.hearing(move |happened| news.fares(happened));
    Box::pin(windlass.engine.work(options, watchers, stop))
}
