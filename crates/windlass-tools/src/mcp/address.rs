//! An MCP server at an address that the operator wrote down, with the headers that the operator gives it. It is reached from
//! outside the sandbox, wherever it is; redirects are not followed.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use windlass_domain::{BoxFuture, Runtime, Secret};
use windlass_mcp::{Body, Connector, Http, Limits, Post, Posted, Transport};

use crate::web::{Anywhere, Client, Location, Opened, Question, Tls};

#[derive(Clone)]
pub struct Address {
    client: Arc<Client>,
    location: Location,
    headers: HeaderMap,
    limits: Limits,
}

#[derive(Debug, thiserror::Error)]
pub enum NotAnAddress {
    #[error("`url`: {0}")]
    Url(String),
    #[error("`url`: headers with secrets go to https addresses, or to this machine, alone")]
    Overheard,
    #[error("`headers_env`: {0} is not a header that HTTP can carry, or its value is not")]
    Header(String),
}

impl Address {
    pub fn new(
        url: &str,
        headers: Vec<(String, Secret)>,
        runtime: Arc<dyn Runtime>,
        limits: Limits,
    ) -> Result<Self, NotAnAddress> {
        let location = Location::parse(url).map_err(NotAnAddress::Url)?;
        let is_private = location.is_tls || is_this_machine(&location.host);
        if !headers.is_empty() && !is_private {
            return Err(NotAnAddress::Overheard);
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let header = HeaderName::try_from(&name).ok().zip(HeaderValue::from_str(value.expose()).ok());
            let (key, mut value) = header.ok_or(NotAnAddress::Header(name))?;
            value.set_sensitive(true);
            map.insert(key, value);
        }
        let client = Arc::new(Client { dialer: Arc::new(Anywhere), runtime, tls: Arc::new(Tls::default()) });
        Ok(Self { client, location, headers: map, limits })
    }

    /// Where it is.
    pub fn door(&self) -> String {
        self.location.door()
    }
}

fn is_this_machine(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Connector for Address {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        let http = Http::new(Box::new(self.clone()), self.limits.message_bytes);
        Box::pin(std::future::ready(Ok(Box::new(http) as Box<dyn Transport>)))
    }
}

impl Post for Address {
    fn post(&self, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> BoxFuture<'static, Result<Posted, String>> {
        let Self { client, location, headers: mut all, .. } = self.clone();
        Box::pin(async move {
            for (name, value) in headers {
                let value = HeaderValue::from_str(&value).map_err(|_| format!("{name} cannot be sent"))?;
                all.insert(HeaderName::from_static(name), value);
            }
            let question = Question { method: Method::POST, location: &location, headers: all, body };
            let opened = client.open(question).await?;
            let header = |name: &str| opened.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let content_type = header("content-type").unwrap_or_default();
            let session = header("mcp-session-id");
            Ok(Posted { status: opened.status, content_type, session, body: Box::new(Arriving(opened)) })
        })
    }
}

struct Arriving(Opened);

impl Body for Arriving {
    fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, String>> {
        Box::pin(async move { Ok(self.0.more().await?.map(Vec::from).unwrap_or_default()) })
    }
}
