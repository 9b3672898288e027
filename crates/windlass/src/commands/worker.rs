//! `windlass worker`: works on whatever this data directory has to do, several tasks at a time, until told to stop.

use std::pin::pin;
use std::sync::Arc;

use windlass_domain::{Canceller, Stop};
use windlass_engine::{Until, Watchers, WorkerOptions};

use super::drive::explain;
use super::load::load_to_work;
use crate::arguments;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{WorkerLog, output};
use crate::wiring::Windlass;

pub async fn worker(arguments: arguments::Worker) -> anyhow::Result<Exit> {
    if arguments.concurrency == 0 {
        return Err(WrongUse::new("--concurrency must be at least 1").into());
    }
    let log = WorkerLog::new(arguments.output);
    let windlass = Windlass::open_to_work_on_many(load_to_work().await?, Arc::new(log.clone())).await?;
    let mut interrupts = Interrupts::new()?;
    let until = if arguments.until_idle { Until::Idle } else { Until::Stopped };
    let options = WorkerOptions { concurrency: arguments.concurrency, until };
    let told = log.clone();
    let watchers: Watchers = Arc::new(move |_, task| told.take(task));
    let canceller = Canceller::default();
    let mut work = pin!(windlass.engine.work(options, watchers, canceller.signal()));
    let mut asked = 0;
    let worked = loop {
        tokio::select! {
            worked = &mut work => break worked,
            () = interrupts.next() => {
                asked += 1;
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
    worked.map_err(explain)?;
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}
