//! An MCP server at an address that the operator wrote down, with the headers that the operator gives it. It is reached from
//! outside the sandbox, wherever it is; redirects are not followed.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use windlass_domain::{BoxFuture, Runtime, Secret};
use windlass_mcp::{Connector, Http, Limits, Post, Posted, Transport};

use crate::web::{Anywhere, Client, Location, Question, Tls};

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

    pub fn host(&self) -> &str {
        &self.location.host
    }
}

impl Connector for Address {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        let http = Http::new(Box::new(self.clone()));
        Box::pin(std::future::ready(Ok(Box::new(http) as Box<dyn Transport>)))
    }
}

impl Post for Address {
    fn post<'a>(
        &'a self,
        headers: Vec<(&'static str, String)>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<Posted, String>> {
        Box::pin(async move {
            let mut all = self.headers.clone();
            for (name, value) in headers {
                let value = HeaderValue::from_str(&value).map_err(|_| format!("{name} cannot be sent"))?;
                all.insert(HeaderName::from_static(name), value);
            }
            let question =
                Question { method: Method::POST, location: &self.location, headers: all, body: body.to_vec() };
            let limits = crate::web::Limits { time: self.limits.call, body_bytes: self.limits.message_bytes };
            let answer = self.client.ask(question, limits).await?;
            if answer.is_cut {
                return Err("its answer is too long".to_owned());
            }
            let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let content_type = header("content-type").unwrap_or_default();
            Ok(Posted { status: answer.status, content_type, session: header("mcp-session-id"), body: answer.body })
        })
    }
}
