//! Spans of a run, and a collector that is told of them over a real socket.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use windlass_domain::Runtime;
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_telemetry::{Collector, Metric, NotACollector, Otlp, Plainly, Registry, Span, TaskLabels};

use crate::records::{TASK, Watched};

fn run() -> Watched {
    let begun = Watched::new(TaskLabels::Off).moved("running").after(10).asks().after(1_200).calls("bash");
    begun.starts("bash").after(40).finished("bash", "error", "a secret of the goal").after(5).moved("completed")
}

#[test]
fn a_run_is_one_trace_of_an_agent_its_model_calls_and_its_tools() {
    let spans = run().spans;
    let names: Vec<_> = spans.iter().map(|span| span.name.trim_end()).collect();
    assert_eq!(names, ["chat", "execute_tool bash", "invoke_agent"]);
    let lasted: Vec<_> = spans.iter().map(|span| span.ended.as_millis() - span.began.as_millis()).collect();
    assert_eq!(lasted, [1_200, 40, 1_255]);
    assert!(spans.iter().all(|span| span.trace_id == TASK.replace('-', "") && span.span_id.len() == 16));
    let agent = &spans[2];
    assert_eq!(agent.parent_id, None);
    assert!(spans[..2].iter().all(|span| span.parent_id.as_ref() == Some(&agent.span_id)));
    let value =
        |span: &Span, name: &str| span.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone());
    assert_eq!(value(&spans[0], "gen_ai.usage.input_tokens"), Some(json!(70)));
    assert_eq!(value(&spans[1], "gen_ai.tool.name"), Some(json!("bash")));
    assert_eq!((spans[1].failed, value(&spans[1], "error.type")), (true, Some(json!("error"))));
    assert!(!format!("{spans:?}").contains("a secret"), "what was said is not exported");
}

/// What a collector hears: each request's path and body.
fn heard(spans: Vec<Span>) -> Vec<(String, Value)> {
    let executor = executor(Threads::One).expect("an executor");
    executor.block_on(async {
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let collector: Collector = format!("http://{address}/otel/").parse().expect("an address");
        let registry = Arc::new(Registry::default());
        registry.add(Metric::measure("agent.tool.duration_ms", 40).with("tool_name", "bash"));
        registry.add(Metric::measure("gen_ai.client.operation.duration", 1_500));
        let otlp = Otlp::start(collector, Arc::new(Plainly), registry, Arc::clone(&runtime));
        spans.into_iter().for_each(|span| otlp.add(span));
        runtime.spawn(Box::pin(async move { otlp.flush().await }));
        let mut requests = Vec::new();
        while requests.len() < 2 {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut bytes = Vec::new();
            let body = loop {
                stream.read_buf(&mut bytes).await.expect("a request");
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let parsed = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
                if let Some(body) = parsed {
                    break (text.split(' ').nth(1).unwrap_or_default().to_owned(), body);
                }
            };
            requests.push(body);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer).await.expect("an answer");
        }
        requests
    })
}

#[test]
fn a_collector_is_told_at_the_end() {
    let heard = heard(run().spans);
    let (path, body) = &heard[0];
    assert_eq!(path, "/otel/v1/traces");
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans");
    assert_eq!(spans.len(), 3);
    assert_eq!((&spans[1]["startTimeUnixNano"], &spans[1]["status"]["code"]), (&json!("1210000000"), &json!(2)));
    let (path, body) = &heard[1];
    assert_eq!(path, "/otel/v1/metrics");
    let metric = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
    assert_eq!(metric["name"], "agent.tool.duration_ms");
    let point = &metric["histogram"]["dataPoints"][0];
    let counts = point["bucketCounts"].as_array().expect("counts");
    assert_eq!(counts.len(), point["explicitBounds"].as_array().expect("bounds").len() + 1);
    assert_eq!(counts.iter().filter(|count| **count == "1").count(), 1, "buckets are apart here: {counts:?}");
    let duration = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][1];
    let point = &duration["histogram"]["dataPoints"][0];
    assert_eq!(
        (&duration["unit"], &point["sum"], &point["explicitBounds"][0]),
        (&json!("s"), &json!(1.5), &json!(0.01))
    );
}

#[test]
fn what_is_no_address_of_a_collector_is_refused() {
    for wrong in ["", "localhost:4318", "ftp://localhost:4318", "http://me:word@localhost:4318", "http://x/?key=1"] {
        assert_eq!(wrong.parse::<Collector>(), Err(NotACollector), "{wrong}");
    }
    let found = |text: &str| text.parse::<Collector>().map(|found| (found.host, found.port, found.is_tls));
    assert_eq!(found("http://localhost:4318"), Ok(("localhost".to_owned(), 4318, false)));
    assert_eq!(found("https://otel.example/x"), Ok(("otel.example".to_owned(), 443, true)));
}
