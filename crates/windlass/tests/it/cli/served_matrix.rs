//! Every route of `/openapi.json`, asked by everybody who may not: without a token, by other tenants, with every scope but the one that
//! it needs, by pages of other servers. What is asked for is there: for each name in a path there is a thing of the right kind, of the
//! tenant `acme`, and the control is that acme's own token gets it. A route that is added is in it by itself; what a new name in a path
//! stands for, or what a new body must hold, is to be said here, and the control fails until it is.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_domain::Tenant;

use super::dead_letters::dead_letter;
use super::serving::{JSON, Served, begun, token};
use crate::support::{Answer, Home, ask};

/// In everything that is acme's, and in nothing else.
const MARK: &str = "kumquat";
/// The same of the tenant `local`, whose folder the server was started in.
const LOCAL_MARK: &str = "quince";
const SCOPES: [&str; 5] = ["read", "write", "approve", "admin", "terminal"];
/// Of a task that is there, and watches nothing.
const NO_MONITOR: &str = "no_such_monitor";
const KEY: &str = "not-a-very-secret-key";

/// Whoever eats it delivers a file and waits for a card; whoever peels it waits for an answer.
const SCRIPT: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "small_talk", "response": "A kumquat to you."}'
      repeat: forever
  default:
    - when: { request: "Eat the kumquat" }
      calls:
        - { tool: write, args: { path: output/kumquat.txt, content: "a kumquat\n" } }
        - { tool: publish_deliverable, args: { filepath: output/kumquat.txt, description: "The kumquat.", type: report } }
    - when: { request: "Eat the kumquat" }
      calls: [ { tool: bash, args: { command: "rm kumquat.txt" } } ]
    - when: { request: "User responded" }
      reply: Done.
    - when: { request: "Peel the kumquat" }
      calls: [ { tool: ask_user, args: { question: "Which kumquat?" } } ]
    - reply: Done.
      repeat: forever
"#;

const CONFIG: &str = r#"
[server]
requests_per_second = 100000
[patterns]
from = ["workspace", "shipped"]
[skills]
from = ["workspace", "shipped"]
[tenants.acme]
workspaces = ["ACME"]
[tenants.acme.webhooks.ci]
key_env = "CI_KEY"
[tenants.other.webhooks.ci]
key_env = "CI_KEY"
"#;

const PLAN: &str = "---\nid: kumquats\ntype: task\ntitle: Plant kumquats\n---\n# What to do\nPlant them.\n";
const GOAL: &str = "---\nid: keep-kumquats\ntype: goal\ntitle: Keep the kumquats\nschedule: \"0 6 1 1 *\"\n\
                    verify: [{command: test -f kumquat.txt}]\nfailure_context: \"Again: $failed_checks\"\n---\n# What to do\nKeep them.\n";

/// A folder with a pattern and a skill of its own.
fn furnish(folder: &std::path::Path, mark: &str) {
    let put = |name: String, text: String| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("in the folder")).expect("its folder");
        std::fs::write(path, text).expect("a file");
    };
    let pattern = format!("name: {mark}\ndescription: Of {mark}.\nsteps:\n  - {{name: one, tools: [write]}}\n");
    put(format!(".windlass/patterns/{mark}.yaml"), pattern);
    put(format!(".agents/skills/{mark}/SKILL.md"), format!("---\nname: {mark}\ndescription: Of {mark}.\n---\n# It\n"));
    put(format!("{mark}.txt"), format!("a {mark}\n"));
}

fn home() -> Home {
    let home = Home::playing(SCRIPT);
    let acme = home.path().join("acme");
    furnish(&acme, MARK);
    furnish(&home.workspace(), LOCAL_MARK);
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its mode");
    let config = CONFIG.replace("ACME", acme.to_str().expect("a plain path"));
    std::fs::write(home.data().join("windlass.toml"), config).expect("a file");
    home
}

/// A server, and everybody who asks it.
struct House {
    home: Home,
    served: Served,
    /// Of acme, with one scope each.
    with_only: BTreeMap<&'static str, String>,
    /// Of acme, with every scope but one.
    without: BTreeMap<&'static str, String>,
    /// Of other tenants, good for everything there.
    foreign: [(&'static str, String); 2],
    /// Acme's, good for everything.
    own: String,
    /// Of acme, that nobody takes any more.
    letters: [String; 2],
}

impl House {
    fn new() -> Self {
        let home = home();
        // Before there is somebody who would take them.
        let letters = ["a kumquat", "another kumquat"].map(|words| dead_letter(&home, &Tenant::new("acme"), words));
        let script = home.script();
        let words = ["serve", "--listen", "127.0.0.1:0", "--drain", "1", "--rehearsal"];
        let program =
            home.windlass(&[&words[..], &[script.to_str().expect("a plain path")]].concat()).env("CI_KEY", KEY);
        let served = begun(&home, program);
        let made = |name: &str, tenant: &str, scopes: &[&str]| {
            token(&home, name, &["--tenant", tenant, "--scope", &scopes.join(",")])
        };
        let others = |scope: &str| SCOPES.into_iter().filter(|other| *other != scope).collect::<Vec<_>>();
        let with_only = SCOPES.map(|scope| (scope, made(&format!("only-{scope}"), "acme", &[scope]))).into();
        let without = SCOPES.map(|scope| (scope, made(&format!("no-{scope}"), "acme", &others(scope)))).into();
        let foreign = [("local", served.token.clone()), ("other", made("other", "other", &SCOPES))];
        let own = made("own", "acme", &SCOPES);
        Self { home, served, with_only, without, foreign, own, letters }
    }

    fn get(&self, path: &str) -> Value {
        self.served.ask_as(&self.own, "GET", path, &[], "").expect(200).json()
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.served.ask_as(&self.own, "POST", path, &[], &body.to_string())
    }

    fn at_last<T>(&self, path: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        self.served.at_last(&self.own, path, wanted)
    }

    /// All that happened in acme, as it is told, but for the audit's seals: those come by the clock.
    fn story(&self) -> String {
        let told = self.served.ask_as(&self.own, "GET", "/v1/events?after=0&until_now=true", &[], "").expect(200).body;
        let is_kept = |line: &&str| line.starts_with("data: ") && !line.contains(r#""kind":"audit.sealed""#);
        told.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
    }
}

fn id(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no id")).to_owned()
}

/// What is acme's: for each name in a path something that it may stand for.
struct Things {
    named: BTreeMap<&'static str, String>,
    /// Of which it stands for another one here, because the others have used the first up.
    besides: BTreeMap<&'static str, String>,
}

impl Things {
    fn new(house: &House) -> Self {
        let worked_on = id(&house.post("/v1/tasks", &json!({"goal": "Eat the kumquat"})).expect(202).json()["task_id"]);
        let peeled = id(&house.post("/v1/tasks", &json!({"goal": "Peel the kumquat"})).expect(202).json()["task_id"]);
        let planned = json!({"goal": "Plant kumquats", "planning": "given", "document": PLAN});
        let planned = id(&house.post("/v1/tasks", &planned).expect(202).json()["task_id"]);
        house.post("/v1/schedules", &json!({"document": GOAL})).expect(201);
        let session = id(&house.post("/v1/sessions", &json!({})).expect(200).json()["session_id"]);
        house.post(&format!("/v1/sessions/{session}/messages"), &json!({"message": "A kumquat?"})).expect(202);
        let question = house.at_last("/v1/questions", |all| Some(id(all["questions"][0].get("request_id")?)));
        let is_its_card = |one: &&Value| one["task_id"] == worked_on.as_str();
        let card = house.at_last("/v1/approvals", |all| {
            let card = all["approvals"].as_array()?.iter().find(is_its_card)?;
            Some(id(&card["card"]["card_id"]))
        });
        // Nothing moves any more: the plan's card is there, what was said is answered, and all have come to rest.
        house.at_last("/v1/approvals", |all| (all["approvals"].as_array()?.len() == 3).then_some(()));
        house.at_last(&format!("/v1/sessions/{session}/messages"), |all| all["said"][1].get("words").map(|_| ()));
        house.at_last(&format!("/v1/sessions/{session}"), |one| one["turn"].is_null().then_some(()));
        for task in [&worked_on, &peeled, &planned] {
            house.at_last(&format!("/v1/tasks/{task}"), |one| (one["standing"] == "waiting").then_some(()));
        }
        let digest = id(&house.get(&format!("/v1/tasks/{worked_on}/deliverables"))["deliverables"][0]["digest"]);
        let records = house.get(&format!("/v1/tasks/{worked_on}/records?limit=500"));
        let stream = records["records"]
            .as_array()
            .expect("records")
            .iter()
            .find_map(|record| record["stream"].as_str()?.strip_prefix("execution/").map(str::to_owned));
        let execution = stream.expect("somebody works on it");
        let recordings = house.home.data().join("recordings");
        std::fs::create_dir_all(&recordings).expect("a folder");
        let recording = "{\"version\":2,\"width\":80,\"height\":24}\n[0.1,\"o\",\"a kumquat\"]\n";
        std::fs::write(recordings.join(format!("{execution}.cast")), recording).expect("a recording");
        let [letter, other_letter] = house.letters.clone();
        let named = [
            ("task", worked_on),
            ("card", card),
            ("question", question),
            ("execution", execution),
            ("session", session),
            ("goal", "keep-kumquats".to_owned()),
            ("digest", digest),
            ("letter", letter),
            ("source", "ci".to_owned()),
        ];
        let planned_too = ["get_task_graph", "explain_task", "get_task_start", "start_task", "redirect_task"];
        let mut besides: BTreeMap<_, _> = planned_too.map(|operation| (operation, planned.clone())).into();
        besides.insert("retry_dead_letter", other_letter);
        Self { named: named.into(), besides }
    }

    /// The path as this operation is asked for, with what it needs besides.
    fn path(&self, template: &str, operation: &str) -> String {
        let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            None => part.to_owned(),
            Some(name) => {
                let known = || panic!("say in this file what thing of acme's `{{{name}}}` of {template} is");
                self.besides.get(operation).or_else(|| self.named.get(name)).cloned().unwrap_or_else(known)
            }
        };
        let path = template.split('/').map(part).collect::<Vec<_>>().join("/");
        match operation {
            "tell_event" => format!("{path}?task={}", self.named["task"]),
            _ if operation.starts_with("watch") => format!("{path}?after=0&until_now=true"),
            _ => path,
        }
    }

    fn body(&self, operation: &str) -> Value {
        let output = json!({"json": true});
        match operation {
            "create_task" => json!({"goal": "Something else"}),
            "send_message" | "say" => json!({"message": "Hello"}),
            "answer_question" => json!({"answer": "Any"}),
            "add_schedule" => json!({"document": GOAL.replace("kumquat", "thing")}),
            "add_monitor" => {
                json!({"interval_seconds": 60, "check_prompt": "Look", "timeout_at": "2999-01-01T00:00:00Z", "timeout_action": "fail"})
            }
            "command_look" => {
                json!({"command": {"status": {"task": self.named["task"], "all": false, "output": output}}})
            }
            "command_ask" => json!({"command": {"cancel": {"task": self.besides["start_task"], "output": output}}}),
            "command_decide" => {
                json!({"command": {"deny": {"card": self.named["card"], "note": "no", "output": output}}})
            }
            "command_operate" => {
                json!({"command": {"dead_letters": {"show": {"id": self.named["letter"], "output": output}}}})
            }
            _ => json!({}),
        }
    }

    /// A task's id begins with the millisecond in which it was made.
    fn signed(&self, body: &str) -> [(&'static str, String); 2] {
        let digits: String = self.named["task"].chars().filter(|digit| *digit != '-').take(12).collect();
        let seconds = (u64::from_str_radix(&digits, 16).expect("a number") / 1_000).to_string();
        let signature = windlass_server::auth::hmac_sha256(KEY.as_bytes(), format!("{seconds}.{body}").as_bytes());
        let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        [("X-Windlass-Timestamp", seconds), ("X-Windlass-Signature", format!("sha256={signature}"))]
    }

    /// Whether an answer holds anything of acme's that whoever asked did not say themselves.
    fn are_told(&self, answer: &Answer, asked: &str) -> bool {
        let said = |word: &str| answer.body.contains(word) && !asked.contains(word);
        said(MARK) || self.named.iter().any(|(name, thing)| *name != "source" && said(thing))
    }
}

/// One operation of the document, as it is asked for.
struct Operation {
    id: String,
    method: String,
    path: String,
    body: String,
    headers: Vec<(&'static str, String)>,
    /// In its path, or in what is said with it.
    names_a_thing: bool,
    /// None: open to everybody.
    scope: Option<String>,
}

impl Operation {
    fn ask(&self, house: &House, headers: &[(&str, &str)]) -> Answer {
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<_> = std::iter::once(JSON).chain(own).chain(headers.iter().copied()).collect();
        ask(&house.served.address, &self.method, &self.path, &headers, &self.body)
    }

    fn ask_as(&self, house: &House, token: &str) -> Answer {
        self.ask(house, &[("Authorization", &format!("Bearer {token}"))])
    }
}

fn operations(house: &House, things: &Things) -> Vec<Operation> {
    let document = ask(&house.served.address, "GET", "/openapi.json", &[], "").expect(200).json();
    let mut operations = Vec::new();
    for (template, item) in document["paths"].as_object().expect("paths") {
        for (method, described) in item.as_object().expect("operations") {
            let operation = described["operationId"].as_str().unwrap_or("openapi").to_owned();
            // Known by a path and a signature; `webhooks` tries that.
            if described["security"][0].get("hook").is_some() {
                continue;
            }
            let is_open = described["security"] == json!([{}]);
            let scope = described["security"][0]["bearer"][0].as_str().map(str::to_owned);
            assert!(is_open || scope.is_some(), "{method} {template} says nothing of who may ask");
            let body = if method == "get" { String::new() } else { things.body(&operation).to_string() };
            let headers = if operation == "tell_event" { things.signed(&body).into() } else { Vec::new() };
            operations.push(Operation {
                path: things.path(template, &operation),
                method: method.to_uppercase(),
                body,
                headers,
                names_a_thing: template.contains('{') || operation.starts_with("command"),
                scope: scope.filter(|_| !is_open),
                id: operation,
            });
        }
    }
    // Whatever ends a thing is asked for when nobody needs it any more, and a command, which must be done, before others have.
    let ends = |one: &Operation| {
        ["remove", "drop", "retry", "cancel", "command_ask"].iter().any(|word| one.id.starts_with(word))
    };
    operations.sort_by_key(|one| (ends(one), !one.id.starts_with("command")));
    operations
}

fn without_a_token(house: &House, operation: &Operation) {
    let allowed = if operation.scope.is_none() { 200 } else { 401 };
    for bad in [None, Some("Bearer wrong"), Some("Basic Zm9vOmJhcg=="), Some("Bearer")] {
        let headers: Vec<_> = bad.map(|bad| ("Authorization", bad)).into_iter().collect();
        let answer = operation.ask(house, &headers);
        assert_eq!(answer.status, allowed, "{} with {bad:?}: {answer:?}", operation.id);
    }
}

fn from_elsewhere(house: &House, operation: &Operation) {
    let own = format!("Bearer {}", house.own);
    let foreign = [
        ("Host", "evil.example"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
    ];
    for header in foreign {
        let answer = operation.ask(house, &[("Authorization", &own), header]);
        assert_eq!(answer.status, 403, "{} with {header:?}: {answer:?}", operation.id);
    }
}

/// A token that is good for everything else: no scope stands for another.
fn without_the_scope(house: &House, operation: &Operation) {
    let Some(scope) = &operation.scope else { return };
    let answer = operation.ask_as(house, &house.without[scope.as_str()]);
    assert_eq!(answer.status, 403, "{} without {scope}: {answer:?}", operation.id);
}

fn by_another_tenant(house: &House, things: &Things, operation: &Operation) {
    for (tenant, token) in &house.foreign {
        let answer = operation.ask_as(house, token);
        let what = format!("{} by {tenant}: {answer:?}", operation.id);
        assert!(!things.are_told(&answer, &format!("{} {}", operation.path, operation.body)), "{what}");
        match operation.id.as_str() {
            // What is said begins a conversation of their own, and what is not configured has no source of events.
            "say" => assert!([202, 422].contains(&answer.status), "{what}"),
            _ if operation.id.starts_with("command") => assert_eq!(answer.status, 422, "{what}"),
            "metrics" => assert_eq!(answer.status, if *tenant == "local" { 200 } else { 403 }, "{what}"),
            _ if operation.names_a_thing => {
                assert_eq!(answer.status, 404, "{what}");
                assert_ne!(answer.json()["code"], NO_MONITOR, "{what}");
            }
            _ => assert!(answer.status < 500, "{what}"),
        }
    }
}

/// With the one scope that it needs it is done, or refused for a reason that only what is there can have. None: it was.
fn missed(house: &House, operation: &Operation) -> Option<String> {
    let answer = operation.ask_as(house, &house.with_only[operation.scope.as_ref()?.as_str()]);
    let is_refused_as = |code: &str| answer.json()["code"] == code;
    let is_found = match answer.status {
        200..300 | 409 => true,
        422 => is_refused_as("unfit") && !operation.id.starts_with("command"),
        404 => is_refused_as(NO_MONITOR),
        403 => operation.id == "metrics",
        426 => operation.id == "attach_terminal",
        _ => false,
    };
    (!is_found).then(|| format!("{} {}: {answer:?}", operation.method, operation.path))
}

#[test]
fn nobody_comes_in_who_may_not() {
    let house = House::new();
    let things = Things::new(&house);
    let operations = operations(&house, &things);
    assert!(operations.len() > 50, "{}", operations.len());
    let before = house.story();
    assert!(before.contains(MARK), "what is looked for is there");
    for operation in &operations {
        without_a_token(&house, operation);
        from_elsewhere(&house, operation);
        without_the_scope(&house, operation);
    }
    // Those who have named nothing of acme's yet are told nothing of it; who names it has it in their own records afterwards.
    let (named, unnamed): (Vec<_>, Vec<_>) = operations.iter().partition(|operation| operation.names_a_thing);
    for operation in unnamed.into_iter().chain(named) {
        by_another_tenant(&house, &things, operation);
    }
    assert_eq!(house.story(), before, "and nothing came of all that");
    // Each tenant has what lies in its own folders, and one that has none has nobody's.
    for path in ["/v1/patterns", "/v1/skills"] {
        let seen = |token: &str| {
            let seen = house.served.ask_as(token, "GET", path, &[], "").expect(200).body;
            (seen.contains(MARK), seen.contains(LOCAL_MARK))
        };
        let [(_, local), (_, other)] = &house.foreign;
        assert_eq!(
            (seen(&house.own), seen(local), seen(other)),
            ((true, false), (false, true), (false, false)),
            "{path}"
        );
    }
    let missed: Vec<String> = operations.iter().filter_map(|operation| missed(&house, operation)).collect();
    assert!(missed.is_empty(), "not found by acme itself: {missed:#?}");
    // Nobody learns what there is by asking.
    let address = &house.served.address;
    ask(address, "GET", "/v1/no-such-thing", &[], "").expect(401);
    ask(address, "GET", "/v1/tasks?token=x", &[("Cookie", &format!("token={}", house.own))], "").expect(401);
    ask(address, "GET", &format!("/v1/tasks?token={}", house.own), &[], "").expect(401);
    house.served.end();
}

/// What is somebody else's is as little there where a body or a query names it. Each is asked by acme as well, who gets it.
#[test]
fn nothing_of_anothers_is_reached_by_a_body_or_a_query() {
    let house = House::new();
    let things = Things::new(&house);
    let [task, session, question] = ["task", "session", "question"].map(|name| things.named[name].clone());
    let planned = things.besides["start_task"].clone();
    let before = house.story();
    let by = |token: &str, method: &str, path: &str, body: &Value, headers: &[(&str, &str)]| {
        let said = if method == "GET" { String::new() } else { body.to_string() };
        let answer = house.served.ask_as(token, method, path, headers, &said);
        assert!(answer.status < 500, "{method} {path}: {answer:?}");
        (things.are_told(&answer, &format!("{path} {said}")), answer)
    };
    let none = json!({});
    for (tenant, token) in &house.foreign {
        let own = house.served.ask_as(token, "POST", "/v1/tasks", &[], &json!({"goal": "Peel it"}).to_string());
        // Who has no folder has no task either, and names acme's.
        let own = if own.status == 202 { id(&own.json()["task_id"]) } else { planned.clone() };
        for (query, found) in [
            (format!("/v1/activity?task={task}"), 404),
            (format!("/v1/activity?session={session}"), 404),
            (format!("/v1/activity?words={MARK}"), 200),
        ] {
            let (is_told, answer) = by(token, "GET", &query, &none, &[]);
            assert!(!is_told && [found, 200].contains(&answer.status), "{tenant}: {query}: {answer:?}");
        }
        let signed = things.signed(&none.to_string());
        let signed: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for whom in [format!("task={task}"), format!("session={session}")] {
            let (is_told, answer) = by(token, "POST", &format!("/v1/events/ci?{whom}"), &none, &signed);
            assert!(!is_told && answer.status == 404, "{tenant}: {whom}: {answer:?}");
        }
        // A conversation of that name is their own, where they can have one.
        let bodies = [
            ("/v1/tasks".to_owned(), json!({"goal": "Join in", "session_id": session})),
            (format!("/v1/tasks/{own}/messages"), json!({"message": "Any", "request_id": question})),
            (format!("/v1/tasks/{own}/redirect"), json!({"planner": task})),
            (format!("/v1/tasks/{own}/redirect"), json!({"planner": planned, "confirmed": true})),
            (
                "/v1/commands/ask".to_owned(),
                json!({"command": {"send": {"task": task, "message": "Any", "question": question, "kind": null, "list": false, "output": {"json": true}}}}),
            ),
        ];
        for (path, body) in bodies {
            let (is_told, answer) = by(token, "POST", &path, &body, &[]);
            let is_refused = (400..500).contains(&answer.status);
            assert!(!is_told && (is_refused || path == "/v1/tasks"), "{tenant}: {path} {body}: {answer:?}");
        }
    }
    assert_eq!(house.story(), before, "nothing came of it");
    // The control: what is refused to others is there.
    for query in [format!("/v1/activity?task={task}"), format!("/v1/activity?session={session}")] {
        assert!(house.get(&query).to_string().contains(MARK), "{query}");
    }
    house.post("/v1/tasks", &json!({"goal": "Join in", "session_id": session})).expect(202);
    let answer = json!({"message": "Any", "request_id": question});
    let asker = house.get(&format!("/v1/questions/{question}"))["task_id"].clone();
    house.post(&format!("/v1/tasks/{}/messages", id(&asker)), &answer).expect(202);
    house.served.end();
}
