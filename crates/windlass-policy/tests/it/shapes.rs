//! Credentials nobody told us about are recognised by their shape, wherever they stand, and only they are taken.

use windlass_policy::MARKER;

use crate::texts::{credentials, key_block, redactor};

fn redact(text: &str) -> String {
    redactor(&[]).redact(text).into_owned()
}

#[test]
fn each_shape_is_recognised_in_each_surrounding() {
    let surroundings = [
        ("", ""),
        ("token: ", "\n"),
        ("KEY=", " next"),
        ("\"", "\""),
        ("{\"output\":\"line\\n", "\\nmore\"}"),
        ("\u{1b}[31m", "\u{1b}[0m"),
        ("\\u001b[1;31m", "\\u001b[0m"),
        ("?key%3D", "&x=1"),
        ("(", ")"),
        ("- `", "`"),
        ("日本", "日本"),
    ];
    for credential in credentials() {
        for (before, after) in surroundings {
            let redacted = redact(&format!("{before}{credential}{after}"));
            // A web token without signature ends with a dot, and nothing here continues it.
            assert_eq!(redacted, format!("{before}{MARKER}{after}"), "{credential}");
        }
    }
}

#[test]
fn a_key_block_is_recognised_however_it_is_printed() {
    let key = key_block("EC PRIVATE KEY", "\n");
    let written = [
        key.clone(),
        key.replace('\n', "\\n"),
        key.replace('\n', "\\r\\n"),
        key.replace('\n', "\\\\n"),
        key.replace('\n', "\n    "),
        key.replace('\n', "\n+"),
        key.replace('\n', "\n-"),
        key.replace('\n', "\n     2\t"),
        key.replace('\n', "\n> "),
        key.replace("-----\nMII", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\nMII"),
        key_block("PGP PRIVATE KEY BLOCK", "\n")
            .replace("-----\nMII", "-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\nMII"),
        key_block("PRIVATE KEY", "\n"),
        key_block("OPENSSH PRIVATE KEY", "\n"),
    ];
    for key in written {
        assert_eq!(redact(&format!("a {key} b")), format!("a {MARKER} b"), "{key}");
    }
}

#[test]
fn a_key_block_that_breaks_off_is_covered_as_far_as_it_goes() {
    let key = key_block("PRIVATE KEY", "\\n");
    let (half, _) = key.split_at(key.len() / 2);
    assert_eq!(redact(&format!("{{\"a\":\"{half}\",\"b\":1}}")), format!("{{\"a\":\"{MARKER}\",\"b\":1}}"));
}

#[test]
fn headers_and_urls_lose_the_credential_and_keep_the_rest() {
    let table = [
        ("Authorization: Bearer aB3dE5fG7hJ9kL1mN3pQ5rS7", "Authorization: Bearer *"),
        ("-H 'authorization: bearer 550e8400-e29b-41d4-a716-446655440000'", "-H 'authorization: bearer *'"),
        ("{\"Authorization\":\"Bearer aB3dE5fG7hJ9kL1mN3pQ5rS7\"}", "{\"Authorization\":\"Bearer *\"}"),
        (
            "{\\\"Authorization\\\": \\\"Bearer aB3dE5fG7hJ9kL1mN3pQ5rS7\\\"}",
            "{\\\"Authorization\\\": \\\"Bearer *\\\"}",
        ),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic *"),
        ("Authorization: token abcdef0123456789", "Authorization: token *"),
        ("https://user:correct-horse@example.com/x", "https://user:*@example.com/x"),
        ("postgres://app:s3cr3t@db:5432/app", "postgres://app:*@db:5432/app"),
        ("https://user:p@ss:w@example.com/x", "https://user:*@example.com/x"),
        ("https://:onlypass@example.com", "https://:*@example.com"),
        ("\"https:\\/\\/user:word@example.com\\/x\"", "\"https:\\/\\/user:*@example.com\\/x\""),
        ("redis://default:pässwörd@h", "redis://default:*@h"),
    ];
    for (text, expected) in table {
        assert_eq!(redact(text), expected.replace('*', MARKER));
    }
}

#[test]
fn a_credential_in_a_url_or_header_is_taken_once() {
    let token = &credentials()[4];
    assert_eq!(redact(&format!("https://{token}@github.com/a/b")), format!("https://{MARKER}@github.com/a/b"));
    assert_eq!(redact(&format!("https://x:{token}@github.com")), format!("https://x:{MARKER}@github.com"));
    assert_eq!(redact(&format!("Authorization: Bearer {token}")), format!("Authorization: Bearer {MARKER}"));
}
