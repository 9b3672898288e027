//! Which of the environment's values are secrets: those whose variable says so, and the passwords in addresses such as
//! `postgres://me:password@host/db`, whatever their variable is called. Values of fewer than `MIN_SECRET_BYTES` bytes are
//! left alone, since they would be found in everything.

use std::ffi::OsString;

use windlass_domain::Secret;
use windlass_policy::MIN_SECRET_BYTES;

/// A part of a name, between underscores, that ends like this holds a secret: `GH_TOKEN`, `PGPASSWORD`, `SECRET_FOR_CI`.
const SAY_SO: [&str; 12] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
];

pub fn secrets(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Secret> {
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .flat_map(|(name, value)| {
            let named = says_so(&name).then(|| value.clone());
            named.into_iter().chain(passwords(&value)).collect::<Vec<_>>()
        })
        .filter(|secret| secret.len() >= MIN_SECRET_BYTES)
        .map(Secret::new)
        .collect()
}

fn says_so(name: &str) -> bool {
    let name = name.to_uppercase();
    // A program that asks for a password is none.
    let parts = name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.ends_with("ASKPASS"));
    parts.into_iter().any(|part| SAY_SO.iter().any(|word| part.ends_with(word)))
}

/// The same text, and stars where the passwords in its addresses stood.
pub fn without_passwords(text: &str) -> String {
    passwords(text)
        .into_iter()
        .filter(|password| !password.is_empty())
        .fold(text.to_owned(), |text, password| text.replace(&format!(":{password}@"), ":***@"))
}

/// The password of `scheme://user:password@host`, as it is written and as it is meant.
fn passwords(value: &str) -> Vec<String> {
    let in_address = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user_and_password, _) = authority.rsplit_once('@')?;
        let (_, password) = user_and_password.split_once(':')?;
        Some(password.to_owned())
    };
    let written = value.split("://").skip(1).filter_map(in_address);
    written.flat_map(|password| [unescaped(&password), password]).collect()
}

/// `%40` as `@`; what does not come out as text stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |index: usize| after.get(index).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).expect("two hexadecimal digits are a byte"));
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, value: &str) -> Vec<String> {
        let secrets = secrets([(name.into(), value.into())].into_iter());
        secrets.iter().map(|secret| secret.expose().to_owned()).collect()
    }

    #[test]
    fn variables_that_say_they_are_secret_are_taken_for_secrets() {
        let names = [
            "GH_TOKEN",
            "Db_Password",
            "MY_DB_PASS",
            "PGPASSWORD",
            "APIKEY",
            "SECRET_FOR_CI",
            "AWS_ACCESS_KEY_ID",
            "TOKEN_2",
            "GOOGLE_CREDENTIALS_JSON",
            "my.secret.value",
            "KEY",
        ];
        for name in names {
            assert_eq!(found(name, "hunter2hunter2"), ["hunter2hunter2"], "{name}");
        }
        for name in ["HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "PASSENGER_HOST", "SSH_ASKPASS", "COMPASSION"] {
            assert_eq!(found(name, "/usr/share/something"), [""; 0], "{name}");
        }
        assert_eq!(found("GH_TOKEN", "short"), [""; 0], "too short to be looked for");
    }

    #[test]
    fn a_text_is_shown_without_the_passwords_in_its_addresses() {
        let shown = without_passwords("urll = \"postgres://me:hunter2@db/x\" and a:b@c");
        assert_eq!(shown, "urll = \"postgres://me:***@db/x\" and a:b@c");
    }

    #[test]
    fn passwords_in_addresses_are_secrets_whatever_the_variable_is_called() {
        assert_eq!(found("DATABASE_URL", "postgres://me:hunter2hunter2@db/x"), ["hunter2hunter2"; 2]);
        assert_eq!(found("HOSTS", "a://u:p%40ssword1@h,b://h2/x:y@z"), ["p@ssword1", "p%40ssword1"]);
        assert_eq!(found("DATABASE_URL", "postgres://me@db/x:y@z"), [""; 0]);
        assert_eq!(found("MAIL", "me:hunter2hunter2@example.org"), [""; 0]);
    }
}
