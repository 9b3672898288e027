//! The methods of the protocol that are answered here: the greeting, pings, the list of tools, and calls, of which only those come
//! through that name a tool of the list with arguments that fit it. Pure.

use serde_json::{Map, Value, json};

use crate::serve::message::{BAD_PARAMS, Fault, HEADERS_DIFFER, NO_SUCH_METHOD, NO_SUCH_VERSION};
use crate::serve::server::{About, CallResult};
use crate::serve::tool::Tool;
use crate::serve::version::{Era, PER_REQUEST, agreed};

pub(crate) const GREETING: &str = "initialize";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
const VERSION_OF_REQUEST: &str = "io.modelcontextprotocol/protocolVersion";
const ABILITIES_OF_CLIENT: &str = "io.modelcontextprotocol/clientCapabilities";
const WHO_ANSWERS: &str = "io.modelcontextprotocol/serverInfo";

pub(crate) enum Asked {
    Answered(Result<Value, Fault>),
    Call { name: String, arguments: Map<String, Value> },
}

/// What a request says of itself on the way, where it travels over HTTP.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headers<'a> {
    pub version: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
}

/// A request that says for itself what it speaks belongs to no session.
pub(crate) fn era(params: &Map<String, Value>) -> Era {
    match params.get("_meta").and_then(|meta| meta.get(VERSION_OF_REQUEST)) {
        Some(_) => Era::PerRequest,
        None => Era::Greeted,
    }
}

/// What such a request says.
pub(crate) fn version_of(params: &Map<String, Value>) -> Option<&str> {
    params.get("_meta")?.get(VERSION_OF_REQUEST)?.as_str()
}

/// What is wrong with such a request before its method is looked at, in the order that the protocol wants. Headers are there for
/// who routes by them, so that one who differs from the message is refused.
pub(crate) fn unfit(method: &str, params: &Map<String, Value>, headers: Option<Headers<'_>>) -> Option<Fault> {
    let meta = params.get("_meta")?;
    if meta.get(ABILITIES_OF_CLIENT).is_none() {
        return Some(Fault::new(BAD_PARAMS, format!("params._meta lacks `{ABILITIES_OF_CLIENT}`")));
    }
    let version = version_of(params);
    if let Some(headers) = headers {
        let differs =
            |header: &str| Some(Fault::new(HEADERS_DIFFER, format!("the header {header} differs from the message")));
        if headers.version.is_none() || headers.version != version {
            return differs("MCP-Protocol-Version");
        }
        if headers.method != Some(method) {
            return differs("Mcp-Method");
        }
        // The names of our tools need no encoding; any other names none of them.
        let name = params.get("name").and_then(Value::as_str);
        if method == "tools/call" && name.is_some() && headers.name != name {
            return differs("Mcp-Name");
        }
    }
    let Some(version) = version else {
        return Some(Fault::new(BAD_PARAMS, format!("`{VERSION_OF_REQUEST}` is a text")));
    };
    (version != PER_REQUEST).then(|| {
        let data = json!({"supported": [PER_REQUEST], "requested": version.chars().take(40).collect::<String>()});
        Fault { data: Some(data), ..Fault::new(NO_SUCH_VERSION, "this version of the protocol is not spoken here") }
    })
}

/// The version that a greeting is answered with, and the answer.
pub(crate) fn greeted(params: &Map<String, Value>, about: About) -> Result<(&'static str, Value), Fault> {
    let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(Fault::new(BAD_PARAMS, "a greeting says its `protocolVersion`"));
    };
    let version = agreed(wanted);
    let mut hello = hello(about);
    hello["protocolVersion"] = json!(version);
    hello["serverInfo"] = who(about);
    Ok((version, hello))
}

pub(crate) fn asked(
    era: Era,
    method: &str,
    params: Map<String, Value>,
    about: impl FnOnce() -> About,
    tools: impl FnOnce() -> Vec<Tool>,
) -> Asked {
    match (era, method) {
        (Era::Greeted, "ping") => Asked::Answered(Ok(json!({}))),
        (Era::PerRequest, "server/discover") => {
            let about = about();
            let mut hello = hello(about);
            hello["supportedVersions"] = json!([PER_REQUEST]);
            hello["_meta"] = json!({WHO_ANSWERS: who(about)});
            Asked::Answered(Ok(finished(era, to_be_asked_again(era, hello))))
        }
        (_, "tools/list") => {
            let list = listed(&params, &tools());
            Asked::Answered(list.map(|list| finished(era, to_be_asked_again(era, list))))
        }
        (_, "tools/call") => called(era, params, &tools()),
        (_, method) => {
            let method: String = method.chars().take(60).collect();
            let message = format!("`{method}` is not offered here: there are only tools");
            Asked::Answered(Err(Fault::new(NO_SUCH_METHOD, message)))
        }
    }
}

fn hello(about: About) -> Value {
    json!({"capabilities": {"tools": {}}, "instructions": about.instructions})
}

fn who(about: About) -> Value {
    json!({"name": about.name, "version": env!("CARGO_PKG_VERSION")})
}

fn listed(params: &Map<String, Value>, tools: &[Tool]) -> Result<Value, Fault> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(json!({"tools": tools.iter().map(Tool::described).collect::<Vec<_>>()})),
        Some(_) => Err(Fault::new(BAD_PARAMS, "there is no such page: the list has only one")),
    }
}

/// Arguments that do not fit are told as what the tool answers: a model sees that, and can do better.
fn called(era: Era, mut params: Map<String, Value>, tools: &[Tool]) -> Asked {
    let bad = |message: String| Asked::Answered(Err(Fault::new(BAD_PARAMS, message)));
    let Some(Value::String(name)) = params.remove("name") else {
        return bad("a call says the `name` of its tool".to_owned());
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return bad("the `arguments` of a call are an object".to_owned()),
    };
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let name: String = name.chars().take(60).collect();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        return bad(format!("there is no tool `{name}`: the tools are {}", names.join(", ")));
    };
    let problems = tool.problems(&arguments);
    if problems.is_empty() {
        return Asked::Call { name, arguments };
    }
    let text = format!("nothing was done, because the arguments do not fit {name}: {}", problems.join("; "));
    Asked::Answered(Ok(finished(era, CallResult::failed(text).written(usize::MAX))))
}

/// The newest revision wants to hear that a result is one.
pub(crate) fn finished(era: Era, mut result: Value) -> Value {
    if era == Era::PerRequest {
        result["resultType"] = json!("complete");
    }
    result
}

/// And for how long it holds, which we do not promise.
fn to_be_asked_again(era: Era, mut result: Value) -> Value {
    if era == Era::PerRequest {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::tool::{Effect, Kind, Parameter};

    const TOOL: Tool = Tool {
        name: "echo",
        description: "d",
        parameters: &[Parameter::required("text", "t", Kind::Text { most: 5 })],
        effect: Effect::Reads,
    };
    const ABOUT: About = About { name: "n", instructions: "i" };

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn ask(era: Era, method: &str, params: Value) -> Asked {
        asked(era, method, object(params), || ABOUT, || vec![TOOL])
    }

    fn code(asked: Asked) -> i64 {
        let Asked::Answered(Err(fault)) = asked else { panic!("it was answered") };
        fault.code
    }

    fn answer(asked: Asked) -> Value {
        let Asked::Answered(Ok(answer)) = asked else { panic!("it was not answered") };
        answer
    }

    #[test]
    fn a_greeting_is_answered_with_the_version_it_asks_for_if_known() {
        let (version, hello) = greeted(&object(json!({"protocolVersion": "2025-06-18"})), ABOUT).unwrap();
        assert_eq!((version, hello["protocolVersion"].as_str()), ("2025-06-18", Some("2025-06-18")));
        assert_eq!(hello["serverInfo"]["name"], "n");
        assert_eq!(greeted(&object(json!({"protocolVersion": "2099-01-01"})), ABOUT).unwrap().0, "2025-11-25");
        for bad in [json!({}), json!({"protocolVersion": 7})] {
            assert_eq!(greeted(&object(bad), ABOUT).unwrap_err().code, BAD_PARAMS);
        }
    }

    #[test]
    fn what_is_not_offered_is_not_found() {
        for method in ["resources/list", "prompts/get", "initialize", "logging/setLevel", "", "tools/list "] {
            assert_eq!(code(ask(Era::Greeted, method, json!({}))), NO_SUCH_METHOD, "{method}");
        }
        assert_eq!(code(ask(Era::PerRequest, "ping", json!({}))), NO_SUCH_METHOD);
        assert_eq!(code(ask(Era::Greeted, "server/discover", json!({}))), NO_SUCH_METHOD);
    }

    #[test]
    fn only_calls_of_a_tool_that_is_there_come_through() {
        for bad in [json!({}), json!({"name": 7}), json!({"name": "rm"}), json!({"name": "echo", "arguments": []})] {
            assert_eq!(code(ask(Era::Greeted, "tools/call", bad.clone())), BAD_PARAMS, "{bad}");
        }
        let told = answer(ask(Era::Greeted, "tools/call", json!({"name": "echo", "arguments": {"text": "too long"}})));
        assert_eq!(told["isError"], true);
        let call = ask(Era::Greeted, "tools/call", json!({"name": "echo", "arguments": {"text": "hi"}}));
        let Asked::Call { name, arguments } = call else { panic!("it was not called") };
        assert_eq!((name.as_str(), Value::Object(arguments)), ("echo", json!({"text": "hi"})));
    }

    #[test]
    fn only_the_newest_revision_hears_how_long_a_list_holds() {
        let old = answer(ask(Era::Greeted, "tools/list", json!({})));
        assert!(old["resultType"].is_null() && old["ttlMs"].is_null());
        let new = answer(ask(Era::PerRequest, "tools/list", json!({})));
        assert_eq!((new["resultType"].as_str(), new["ttlMs"].as_i64()), (Some("complete"), Some(0)));
        assert_eq!(code(ask(Era::Greeted, "tools/list", json!({"cursor": "2"}))), BAD_PARAMS);
    }

    #[test]
    fn a_request_that_speaks_for_itself_must_agree_with_its_headers() {
        let good = json!({"name": "echo", "_meta": {VERSION_OF_REQUEST: PER_REQUEST, ABILITIES_OF_CLIENT: {}}});
        let headers = Headers { version: Some(PER_REQUEST), method: Some("tools/call"), name: Some("echo") };
        let check = |params: &Value, headers: Option<Headers<'_>>| {
            unfit("tools/call", &object(params.clone()), headers).map(|fault| fault.code)
        };
        assert_eq!(check(&good, Some(headers)), None);
        assert_eq!(check(&good, None), None);
        for wrong in [
            Headers { version: None, ..headers },
            Headers { version: Some("2025-06-18"), ..headers },
            Headers { method: Some("tools/list"), ..headers },
            Headers { method: None, ..headers },
            Headers { name: Some("other"), ..headers },
            Headers { name: None, ..headers },
        ] {
            assert_eq!(check(&good, Some(wrong)), Some(HEADERS_DIFFER), "{wrong:?}");
        }
        let meta = |version: Value| json!({"_meta": {VERSION_OF_REQUEST: version, ABILITIES_OF_CLIENT: {}}});
        assert_eq!(check(&meta(json!("2099-01-01")), None), Some(NO_SUCH_VERSION));
        assert_eq!(check(&meta(json!(7)), None), Some(BAD_PARAMS));
        assert_eq!(check(&json!({"_meta": {VERSION_OF_REQUEST: PER_REQUEST}}), None), Some(BAD_PARAMS));
    }
}
