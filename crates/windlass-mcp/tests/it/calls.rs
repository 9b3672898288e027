//! What goes well: greeting, pages, calls, the server's own questions, and stopping.

use serde_json::{Value, json};
use windlass_domain::{CancelSignal, Canceller, Stop};
use windlass_mcp::{Error, Limits};

use crate::scripted::{Does, Scripted, answer, but, good, short, tool};

#[tokio::test]
async fn a_call_is_greeted_listed_and_made() {
    let scripted = Scripted::new(|message| good(message, &tool("d")));
    let answer = scripted.call(&[tool("d")]).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.is_error), (r#"called with {"a":1}"#, false));
    assert_eq!(scripted.methods(), ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
}

#[tokio::test]
async fn every_page_is_read() {
    let scripted = but("tools/list", |message| {
        let page = |name: &str, next: Value| json!({"tools": [{"name": name}], "nextCursor": next});
        vec![answer(
            message,
            &match message["params"]["cursor"].as_str() {
                None => page("a", json!("2")),
                Some("2") => page("b", json!("3")),
                _ => page("c", Value::Null),
            },
        )]
    });
    let listing = scripted.server(&[], short()).list(&CancelSignal::never()).await.unwrap();
    assert_eq!(listing.tools.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[tokio::test]
async fn what_a_server_asks_meanwhile_is_answered() {
    let scripted = but("tools/call", |message| {
        let ask =
            |id: &str, method: &str| Does::Says(json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string());
        let progress = Does::Says(json!({"jsonrpc": "2.0", "method": "notifications/progress"}).to_string());
        let done = answer(message, &json!({"content": []}));
        vec![ask("p", "ping"), ask("s", "sampling/createMessage"), progress, done]
    });
    scripted.call(&[tool("d")]).await.unwrap();
    let told = scripted.told.lock().unwrap();
    let to = |id: &str| told.iter().find(|message| message["id"] == id && message["method"].is_null()).unwrap();
    assert_eq!(to("p")["result"], json!({}));
    assert_eq!(to("s")["error"]["code"], -32601);
}

#[tokio::test]
async fn a_call_that_is_stopped_says_so_to_the_server() {
    let canceller = Canceller::default();
    let stop = canceller.clone();
    let scripted = but("tools/call", move |_| {
        stop.stop(Stop::Cancel);
        Vec::new()
    });
    let server = scripted.server(&[tool("d")], Limits::default());
    let stopped = server.call("t", &json!({}), &canceller.signal()).await;
    assert_eq!(stopped, Err(Error::Stopped(Stop::Cancel)));
    let told = scripted.told.lock().unwrap();
    let [.., call, unwanted] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(unwanted["method"], "notifications/cancelled");
    assert_eq!(unwanted["params"]["requestId"], call["id"]);
}
