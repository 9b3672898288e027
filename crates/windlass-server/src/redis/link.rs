//! Connections to Redis. One answers at once or is broken; the other may wait, because reading a stream waits for something to read. The
//! address holds the password, and is neither kept where it could be shown nor part of what is said about a failure. By `rediss://` the
//! server proves its name by a certificate of an authority that the machine trusts; there is no way to leave that out.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ProtocolVersion, PushInfo, RedisError, RedisResult, cmd};
use windlass_domain::Secret;

const CONNECTING: Duration = Duration::from_secs(5);
const ANSWERING: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
#[error(
    "REDIS_URL cannot be understood: write redis://[user:password@]host[:port][/database], rediss:// for TLS, or redis+unix:///path"
)]
pub struct BadAddress;

pub struct Link {
    client: Client,
}

impl Link {
    pub fn to(address: &Secret) -> Result<Self, BadAddress> {
        let client = Client::open(address.expose()).map_err(|_| BadAddress)?;
        Ok(Self { client })
    }

    pub async fn quick(&self) -> RedisResult<MultiplexedConnection> {
        self.connect(Some(ANSWERING)).await
    }

    /// Whoever uses it says how long.
    pub async fn patient(&self) -> RedisResult<MultiplexedConnection> {
        self.connect(None).await
    }

    /// One that answers at once, and that is told of every key under these prefixes that others change. Redis before 6 and some that stand
    /// in for it cannot do that.
    pub async fn watching(
        &self,
        prefixes: &[&str],
        told: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> RedisResult<MultiplexedConnection> {
        let known = self.client.get_connection_info();
        let settings = known.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(known.clone().set_redis_settings(settings))?;
        let config = configuration(Some(ANSWERING)).set_push_sender(move |push| {
            told(push);
            Ok::<(), RedisError>(())
        });
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut track = cmd("CLIENT");
        track.arg("TRACKING").arg("ON").arg("BCAST").arg("NOLOOP");
        for prefix in prefixes {
            track.arg("PREFIX").arg(prefix);
        }
        track.query_async::<()>(&mut connection).await?;
        Ok(connection)
    }

    async fn connect(&self, answering: Option<Duration>) -> RedisResult<MultiplexedConnection> {
        self.client.get_multiplexed_async_connection_with_config(&configuration(answering)).await
    }
}

fn configuration(answering: Option<Duration>) -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECTING)).set_response_timeout(answering)
}

/// What is wrong, for the operator.
pub fn described(error: &RedisError) -> String {
    let kind = error.category();
    match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind.to_owned(),
    }
}
