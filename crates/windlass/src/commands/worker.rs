//! `windlass worker`: works on whatever this data directory has to do, several tasks at a time, until told to stop.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use windlass_api::Scope;
use windlass_domain::{BoxFuture, Canceller, Stop, Tenant};
use windlass_engine::{Error, Until, Watchers, WorkerOptions};
use windlass_server::auth::bearer;
use windlass_server::port::TokenBook as _;
use windlass_telemetry::{Endpoint, MayLook};

use super::drive::explain;
use super::load::load_to_work;
use crate::arguments;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::{Interrupts, Signalled};
use crate::show::{WorkerLog, output};
use crate::tokens::FileTokens;
use crate::wiring::Windlass;

/// The newest: whoever begins to work does not read all that there ever was.
const MOST_LOOKED_AT: usize = 200;

pub async fn worker(arguments: arguments::Worker) -> anyhow::Result<Exit> {
    if arguments.concurrency == 0 {
        return Err(WrongUse::new("--concurrency must be at least 1").into());
    }
    // Before anything that takes a while: whoever is told to end while it begins ends as it would later.
    let mut interrupts = Interrupts::new()?;
    let log = WorkerLog::new(arguments.output);
    let config = load_to_work().await?;
    let hosts = config.file.telemetry.metrics_hosts.clone();
    arguments.metrics.map_or(Ok(()), |address| may_be_served_at(address, &hosts))?;
    let tokens = FileTokens::new(&config.data_dir, &config.user).telling(Arc::new(log.clone()));
    let windlass = Windlass::open_to_work_on_many(config, Arc::new(log.clone())).await?;
    if let Some(address) = arguments.metrics {
        tokens.ensure_own(&*windlass.runtime).map_err(WrongUse::from)?;
        log.serves(&serve_metrics(&windlass, address, hosts, tokens).await?);
    }
    for (machine, tasks) in left_to_others(&windlass).await.map_err(explain)? {
        log.leaves(tasks, &machine);
    }
    let drain = Duration::from_secs(arguments.drain);
    let until = if arguments.until_idle { Until::Idle } else { Until::Stopped };
    let options = WorkerOptions { concurrency: arguments.concurrency, until, ..WorkerOptions::default() };
    let told = log.clone();
    let observing = windlass.observing.clone();
    let news = log.clone();
    let watchers = Watchers::new(move |_, task| observing.watch(task, told.take(task)));
    let watchers = watchers.hearing(move |happened| news.fares(happened));
    let canceller = Canceller::default();
    let mut work = pin!(windlass.engine.work(options, watchers, canceller.signal()));
    let mut asked = 0;
    let mut limit: BoxFuture<'static, ()> = Box::pin(std::future::pending());
    let worked = loop {
        tokio::select! {
            worked = &mut work => break worked,
            () = &mut limit => {
                limit = Box::pin(std::future::pending());
                canceller.stop(Stop::LeaseLost);
            }
            signal = interrupts.which() => {
                asked += 1;
                // A service manager asks once and kills afterwards: whoever has not ended by then is left to others.
                if signal == Signalled::Terminate {
                    limit = windlass.runtime.sleep(drain);
                }
                match asked {
                    1 => {
                        log.remark("takes nothing new, and ends what it has begun; again to leave that to others");
                        canceller.stop(Stop::Pause);
                    }
                    2 => canceller.stop(Stop::LeaseLost),
                    // Others go on with what it held as after any crash.
                    _ => return Ok(Exit::Stopped),
                }
            }
        }
    };
    output().heed(interrupts);
    windlass.observing.flush().await;
    worked.map_err(explain)?;
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}

/// Of every tenant, those that other machines have to go on with.
async fn left_to_others(windlass: &Windlass) -> Result<BTreeMap<String, usize>, Error> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for tenant in windlass.store.tenants().await? {
        for (machine, tasks) in windlass.engine.for_tenant(tenant).left_to_others(MOST_LOOKED_AT).await? {
            *left.entry(machine).or_default() += tasks;
        }
    }
    Ok(left)
}

/// Beyond this machine only by names that the operator has listed: any other name may be a web page's.
fn may_be_served_at(address: SocketAddr, hosts: &[String]) -> Result<(), WrongUse> {
    if address.ip().is_loopback() || !hosts.is_empty() {
        return Ok(());
    }
    Err(WrongUse::new(format!("--metrics {address} is open to other machines"))
        .hint("say 127.0.0.1, or list the names they use in `[telemetry] metrics_hosts` of windlass.toml"))
}

/// The address, as others type it.
async fn serve_metrics(
    windlass: &Windlass,
    address: SocketAddr,
    hosts: Vec<String>,
    tokens: FileTokens,
) -> anyhow::Result<String> {
    let registry = Arc::clone(&windlass.observing.registry);
    let clock = Arc::clone(&windlass.runtime);
    // As at `/v1/metrics`: they are of everybody's tasks, and for operators.
    let may_look: MayLook = Arc::new(move |headers| {
        let caller = bearer(headers, &tokens.tokens(), clock.wall());
        caller.is_some_and(|caller| caller.may(Scope::Admin) && caller.tenant == Tenant::local())
    });
    let wrong = |error| WrongUse::new(format!("--metrics {address}: {error}")).hint("name another port");
    let endpoint = Endpoint::bind(address, hosts, may_look, registry, Arc::clone(&windlass.runtime)).await;
    let endpoint = endpoint.map_err(wrong)?;
    let shown = endpoint.local_addr().map_err(wrong)?;
    windlass.runtime.spawn(Box::pin(endpoint.run()));
    Ok(format!("http://{shown}/metrics"))
}
