//! Texts for the properties: fragments that make candidates, near misses, escapes and secrets meet and overlap.

use std::sync::LazyLock;

use proptest::prelude::*;
use windlass_domain::Secret;
use windlass_policy::Redactor;

pub const SECRETS: [&str; 6] =
    ["hunter2-hunter2", "nabcdefgh", "abcdefgh\\", "0041abcd/é", "two words \"quoted\"", "abcabcabcabc"];

/// A redactor for `SECRETS`; building one takes longer than most texts.
pub static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| redactor(&SECRETS));

pub fn redactor(secrets: &[&str]) -> Redactor {
    let secrets: Vec<Secret> = secrets.iter().map(|secret| Secret::new(*secret)).collect();
    Redactor::new(&secrets)
}

/// Made-up credentials, each in pieces so that no scanner of this repository takes them for real ones.
pub fn credentials() -> Vec<String> {
    let random = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d";
    vec![
        format!("sk-{random}"),
        format!("sk-{}", "or-v1-0123456789abcdef0123456789abcdef"),
        format!("sk-ant-{}{random}{random}", "api03-"),
        format!("sk-proj-{random}_{random}"),
        format!("ghp_{}", &random[..36]),
        format!("gho_{}", &random[..36]),
        format!("github_pat_{}_{random}", &random[..22]),
        format!("glpat-{}", &random[..20]),
        format!("npm_{}", &random[..36]),
        format!("hf_{}", &random[..34]),
        format!("sk_live_{}", &random[..24]),
        format!("AKIA{}", "IOSFODNN7EXAMPLE"),
        format!("ASIA{}", "IOSFODNN7EXAMPLE"),
        format!("AIza{}", &random[..35]),
        format!("xoxb-{}-{}", "123456789012", &random[..24]),
        format!("xoxp-{}-{}", "123456789012", &random[..24]),
        format!("eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", random),
        format!("eyJ{}.eyJ{}.", "hbGciOiJub25lIn0", "zdWIiOiIxMjM0NTY3ODkwIn0"),
        key_block("RSA PRIVATE KEY", "\n"),
        key_block("PRIVATE KEY", "\r\n"),
    ]
}

pub fn key_block(label: &str, newline: &str) -> String {
    let body = "MIIEpAIBAAKCAQEA7bq2cG9vdGVzdGtleXRoYXRpc25vdHJlYWxhbmR3aWxs";
    let lines = [
        format!("-----BEGIN {label}-----"),
        body.into(),
        body.into(),
        "AQAB==".into(),
        format!("-----END {label}-----"),
    ];
    lines.join(newline)
}

fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "",
        " ",
        "\n",
        "\\",
        "\\\\",
        "\\n",
        "\\u",
        "\\u0041",
        "\\u004",
        "\"",
        "'",
        ".",
        ":",
        "@",
        "/",
        "-",
        "-----",
        "=",
        "é",
        "漢",
        "a",
        "abc",
        "0041",
        "n",
        "sk-",
        "sk",
        "task-",
        "ghp",
        "_",
        "eyJ",
        "AKIA",
        "://",
        ":\\/\\/",
        "https",
        "user:",
        "bearer ",
        "Authorization",
        ": ",
        "Basic ",
        "-----BEGIN ",
        "PRIVATE KEY",
        "-----BEGIN PRIVATE KEY-----",
        "%20",
        "\u{1b}[31m",
        "{",
        "}",
        ",",
    ]);
    let secret = prop::sample::select(SECRETS.to_vec());
    let half = (prop::sample::select(SECRETS.to_vec()), any::<prop::sample::Index>()).prop_map(|(secret, cut)| {
        let cut = secret.ceil_char_boundary(cut.index(secret.len() + 1));
        secret[..cut].to_owned()
    });
    prop_oneof![
        6 => fixed.prop_map(str::to_owned),
        2 => secret.prop_map(str::to_owned),
        2 => half,
        2 => prop::sample::select(credentials()),
        1 => "[a-zA-Z0-9]{1,24}",
        1 => any::<String>(),
    ]
}

pub fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..16).prop_map(|fragments| fragments.concat())
}

/// JSON with such texts in its strings and names.
pub fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(serde_json::Value::from),
        1 => any::<i64>().prop_map(serde_json::Value::from),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}
