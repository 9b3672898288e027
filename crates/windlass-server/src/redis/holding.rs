//! Holding a session (seed 000 §19.3): `session:lease:{session_id}` says who is heeding something for it. One that another program holds is
//! left to it until its time is up; one of a server that is known to be gone is taken from it at once.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult};
use windlass_domain::{CallerName, OwnerId, millis};

use super::complaints::Wrong;
use super::door::{Broken, RedisParts};
use super::scripts::{LEASE, LET_GO, run, script};

pub enum Hold {
    Ours,
    Anothers,
    Wrong(Wrong),
}

pub async fn hold(
    parts: &RedisParts,
    connection: &mut MultiplexedConnection,
    me: &str,
    session: &CallerName,
) -> Result<Hold, Broken> {
    let (key, lasts) = (key(session), millis(parts.lease).to_string());
    let mut from = String::new();
    loop {
        let answer: Vec<Vec<u8>> = run(connection, LEASE, &[&key], &[me, &lasts, &from]).await?;
        let answer: Vec<_> = answer.iter().map(|word| String::from_utf8_lossy(word)).collect();
        match answer.as_slice() {
            [what, holder] if what == "held" => {
                if *holder == from || lives(parts, holder).await? != Some(false) {
                    return Ok(Hold::Anothers);
                }
                from = holder.to_string();
            }
            [_, kind] => {
                let waits = "what comes for that session waits";
                return Ok(Hold::Wrong(Wrong { key, kind: kind.to_string(), wanted: "text", waits }));
            }
            _ => return Ok(Hold::Ours),
        }
    }
}

/// With what else is to be done, in one exchange.
pub async fn let_go(
    with: Option<Cmd>,
    connection: &mut MultiplexedConnection,
    me: &str,
    session: Option<&CallerName>,
) -> RedisResult<()> {
    let let_go = session.map(|session| script(LET_GO, &[&key(session)], &[me]));
    let mut both = redis::pipe();
    for command in with.into_iter().chain(let_go) {
        both.add_command(command).ignore();
    }
    // Nothing to do is no exchange.
    if both.is_empty() { Ok(()) } else { both.query_async(connection).await }
}

/// None: nobody here knows such a process.
pub async fn lives(parts: &RedisParts, name: &str) -> Result<Option<bool>, Broken> {
    match name.parse::<OwnerId>() {
        Ok(process) => Ok(parts.engine.lives(process).await?),
        Err(_) => Ok(None),
    }
}

fn key(session: &CallerName) -> String {
    format!("session:lease:{session}")
}
