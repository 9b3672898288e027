//! Who is spoken to, and how: what `sslmode` asks for is what is done.

use windlass_postgres_server::{Encrypted, Server};
use windlass_store::postgres::PostgresStore;
use windlass_store::{Error, Store as _};

use crate::executor::Executor;
use crate::postgres::house::options;
use crate::promise::Promise;

/// Whether what is said is encrypted; an error where nobody is spoken to.
fn speak(executor: &Executor, encrypted: &Encrypted, asked: &str) -> Result<bool, Error> {
    let url = format!("postgres://postgres@localhost:{}/postgres{asked}", encrypted.port);
    let store = executor.run(PostgresStore::open(options(&url), executor.runtime()))?;
    let asking =
        "SELECT bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'windlass'";
    let program = encrypted.server.program("psql");
    let answer = program_says(program, encrypted.port, asking);
    // It can be worked with, too.
    executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).or_else(|error| match error {
        Error::Conflict { .. } => Ok(Default::default()),
        other => Err(other),
    })?;
    Ok(answer == "t")
}

fn program_says(mut program: std::process::Command, port: u16, sql: &str) -> String {
    let ran = program.env("PGPORT", port.to_string()).args(["-qtAX", "-d", "postgres", "-c", sql]).output();
    String::from_utf8_lossy(&ran.expect("psql runs").stdout).trim().to_owned()
}

#[test]
fn a_server_is_believed_as_far_as_sslmode_says() {
    let executor = Executor::new();
    let rightly = Server::start_encrypted("localhost");
    let root = format!("sslrootcert={}", rightly.authority.display());
    assert_eq!(speak(&executor, &rightly, &format!("?sslmode=verify-full&{root}")), Ok(true));
    assert_eq!(speak(&executor, &rightly, "?sslmode=require"), Ok(true));
    assert_eq!(speak(&executor, &rightly, "?sslmode=prefer"), Ok(true));
    assert_eq!(speak(&executor, &rightly, "?sslmode=disable"), Ok(false));
    assert_eq!(speak(&executor, &rightly, ""), Ok(false), "on this machine");
    // Nobody whom this machine trusts vouches for it.
    let stranger = speak(&executor, &rightly, "?sslmode=verify-full").expect_err("it is not believed");
    assert!(stranger.to_string().contains("certificate"), "{stranger}");

    let wrongly = Server::start_encrypted("elsewhere.example");
    let root = format!("sslrootcert={}", wrongly.authority.display());
    assert_eq!(speak(&executor, &wrongly, &format!("?sslmode=verify-ca&{root}")), Ok(true));
    let another = speak(&executor, &wrongly, &format!("?sslmode=verify-full&{root}")).expect_err("it is another");
    assert!(another.to_string().contains("not valid for name"), "{another}");
    let unknown = format!("?sslmode=verify-ca&sslrootcert={}", rightly.authority.display());
    speak(&executor, &wrongly, &unknown).expect_err("of an authority that is not believed");
}
