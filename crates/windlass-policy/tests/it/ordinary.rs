//! What merely resembles a secret comes through untouched: code, hashes, identifiers, lock files, documentation.

use windlass_policy::MARKER;

use crate::texts::redactor;

#[track_caller]
fn untouched(text: &str) {
    let redacted = redactor(&["correct horse battery"]).redact(text).into_owned();
    let (before, after) = redacted.split_once(MARKER).unwrap_or_default();
    let tail = &before[before.floor_char_boundary(before.len().saturating_sub(60))..];
    let head: String = after.chars().take(60).collect();
    assert!(redacted == text, "…{tail}[?]{head}…");
}

#[test]
fn words_that_contain_a_prefix() {
    for text in [
        "task-management-system-for-20240101-users",
        "risk-assessment-2024-11-15-final-report-v3",
        "disk-0123456789abcdef0123456789abcdef",
        "class=\"sk-folding-cube sk-circle-fade-dot sk-chasing-dots-container\"",
        "sk-SK and sk_live_ and ghp_ and xoxb- are prefixes",
        "sk-part-1-of-the-introduction-to-flags",
        "the flask-sqlalchemy-extension-package",
        "AKIA is short, AKIAabcdefghijklmnop is not upper case, and MAKIA0123456789ABCDEF is a word",
        "npm_config_registry npm_package_dependencies_typescript_version npm_lifecycle_script",
        "hf_hub_download hf_transfer_enable_progress_bars_for_everyone",
        "eyJust.a.name eyJ. eyJhbGciOiJIUzI1NiJ9 alone",
        "heyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
        "ask-for-help-when-2-of-3-or-4-of-5-fail",
    ] {
        untouched(text);
    }
}

#[test]
fn hashes_identifiers_and_lock_files() {
    for text in [
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "checksum = \"d1d8a17ac52f1bfc4dd0f0f1c4ebb4b4ea9d5f6c3b2a190807060504030201ff\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"",
        "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
        "\"resolved\": \"https://registry.npmjs.org/@babel/core/-/core-7.24.0.tgz\"",
        "h1:4nGaVu0QrbjT/AK2PRLuQfQuh6DJve+pELhqTdAj3x0=",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXSwibmFtZXMiOltdfQ==",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7example7example7example7example7exam user@host",
    ] {
        untouched(text);
    }
}

#[test]
fn code_and_documentation_about_credentials() {
    for text in [
        "if pem.starts_with(\"-----BEGIN PRIVATE KEY-----\") { return Err(Error::Key) }",
        "A file that begins with -----BEGIN RSA PRIVATE KEY----- holds a key.",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${ACCESS_TOKEN}",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        "Authorization: Bearer [REDACTED]",
        "the bearer authentication-and-authorization mechanism",
        "Bearer myVeryOwnAccessTokenHere",
        "Authorization: Basic authentication",
        "headers[\"Authorization\"] = f\"Bearer {self.access_token}\"",
        "let authorization = request.headers.get(\"authorization\");",
        "authorization = Authorization::basic(username, password)",
        "Authorization: see below",
    ] {
        untouched(text);
    }
}

#[test]
fn urls_without_a_password() {
    for text in [
        "https://example.com:8080/path@2x.png",
        "http://localhost:3000/a:b@c",
        "ssh://git@github.com:22/a/b.git and git@github.com:a/b.git",
        "https://user@example.com/",
        "https://user:@example.com/",
        "postgres://app:${DB_PASSWORD}@db/app",
        "postgres://app:$DB_PASSWORD@db/app",
        "postgres://app:{password}@db/app",
        "postgres://app:****@db/app",
        "postgres://user:password@host:5432/db and redis://:secret@cache",
        "https://user:[REDACTED]@example.com/",
        "mailto:a@b.c://",
        "https://[::1]:8080/x@y",
        "a://b c:d@e",
    ] {
        untouched(text);
    }
}

#[test]
fn this_crates_own_sources() {
    for source in [
        include_str!("../../src/redact/stream.rs"),
        include_str!("../../src/redact/shapes.rs"),
        include_str!("../../src/redact/run.rs"),
        include_str!("../../src/redact/forms.rs"),
        include_str!("../../../../Cargo.lock"),
        include_str!("../../../../clippy.toml"),
    ] {
        untouched(source);
    }
}
