//! What happened, read from the newest on: a page at a time, by kind, by words and by where people see it; and where a conversation lies in
//! it, so that whoever opens one need not read everything from its beginning.

use serde_json::{Value, json};

use super::served_sessions::{say, session_of, shown};
use super::serving::{Served, serve};
use crate::support::Home;

const TALK: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "small_talk", "response": "Hello yourself."}'
      repeat: forever
"#;

fn page(served: &Served, query: &str) -> Value {
    served.get(&format!("/v1/activity?{query}")).expect(200).json()
}

fn positions(page: &Value) -> Vec<u64> {
    let records = page["records"].as_array().expect("records");
    records.iter().map(|record| record["position"].as_u64().expect("a position")).collect()
}

/// All pages of what is looked for, so many records each.
fn all(served: &Served, query: &str, limit: usize) -> Vec<Value> {
    let (mut records, mut cursor) = (Vec::new(), String::new());
    loop {
        let found = page(served, &format!("limit={limit}{cursor}&{query}"));
        let some = found["records"].as_array().expect("records");
        assert!(some.len() <= limit, "{found}");
        records.extend(some.iter().cloned());
        match found["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return records,
        }
    }
}

#[test]
fn what_happened_is_read_from_the_newest_on_and_looked_through() {
    let home = Home::playing(TALK);
    let served = serve(&home, &[]);
    let [first, second] = ["first", "second"].map(|name| session_of(&served, name));
    let empty = shown_list(&served);
    assert!(empty.is_empty(), "{empty:?}");
    for (session, words) in [(&first, "A kumquat?"), (&second, "Something else"), (&first, "Goodbye")] {
        say(&served, &served.token, session, &json!({"message": words}));
    }

    let whole = page(&served, "limit=500");
    let there = positions(&whole);
    assert!(there.len() > 20 && there.windows(2).all(|pair| pair[0] > pair[1]), "{there:?}");
    assert_eq!(whole["next"], Value::Null);
    assert!(whole["last"].as_u64() >= there.first().copied(), "{whole}");
    // What happened may be sealed in the audit meanwhile, which is a record, too.
    let in_pages = all(&served, "", 7).into_iter().filter_map(|record| record["position"].as_u64());
    let in_pages: Vec<u64> = in_pages.filter(|position| Some(position) <= there.first()).collect();
    assert_eq!(in_pages, there, "nothing twice and nothing left out");

    let words = |query: &str| -> Vec<Value> {
        all(&served, query, 2).iter().map(|record| record["data"]["words"].clone()).collect()
    };
    assert_eq!(words("kinds=user.said"), [json!("Goodbye"), json!("Something else"), json!("A kumquat?")]);
    assert_eq!(words("kinds=user.said&words=KUMQUAT%20said"), [json!("A kumquat?")]);
    assert_eq!(words(&format!("kinds=user.said&session={second}")), [json!("Something else")]);
    assert_eq!(all(&served, "about=goal", 50), [] as [Value; 0]);
    let told = all(&served, "surface=stream&about=session", 50);
    assert!(told.iter().all(|record| record["surfaces"] == json!(["stream"])), "{told:?}");
    assert_eq!(told.len(), 6, "what was said, and its answers: {told:?}");
    for nonsense in ["cursor=x", "limit=0", "surface=nowhere"] {
        served.get(&format!("/v1/activity?{nonsense}")).expect(400);
    }
    served.get(&format!("/v1/activity?session={}", session_of(&served, "nobody's"))).expect(404);
    served.end();
}

#[test]
fn a_conversation_says_where_it_began_with_which_words_and_when_something_was_in_it_last() {
    let home = Home::playing(TALK);
    let served = serve(&home, &[]);
    let [first, second] = ["first", "second"].map(|name| session_of(&served, name));
    for (session, words) in [(&first, "A kumquat?"), (&second, "Something else"), (&first, "Goodbye")] {
        say(&served, &served.token, session, &json!({"message": words}));
    }
    let told = shown(&served, &first);
    assert_eq!(told["first_words"], "A kumquat?");
    let began = told["began_position"].as_u64().expect("a position");
    let opened = all(&served, &format!("session={first}&kinds=session.opened"), 50);
    assert_eq!(opened[0]["position"], json!(began), "{opened:?}");

    // Their ids are in no order of time: what happened last says which is the newest.
    let mut listed = shown_list(&served);
    listed.sort_by_key(|session| session["last_at"].as_str().map(str::to_owned));
    let newest = listed.last().expect("a conversation");
    assert_eq!((&newest["session_id"], &newest["began_position"]), (&json!(first), &json!(began)), "{listed:?}");
    served.end();
}

fn shown_list(served: &Served) -> Vec<Value> {
    served.get("/v1/sessions").expect(200).json()["sessions"].as_array().cloned().expect("conversations")
}
