//! What a commit becomes: a list of statements and what their answers mean. Each statement both looks and writes, and says in
//! its answer what it found, so that all of them can be sent at once and judged afterwards, in their order: the first that was
//! not as it should be is why the commit is refused.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::commit::Committed;
use crate::error::Error;
use crate::providers::postgres::failure::Failure;

pub(super) type Value<'a> = Box<dyn ToSql + Sync + Send + Sync + 'a>;

pub(super) type Judge<'a> = Box<dyn FnOnce(Vec<Row>, &mut Committed) -> Result<(), Failure> + Send + Sync + 'a>;

pub(super) struct Step<'a> {
    pub sql: &'static str,
    pub values: Vec<Value<'a>>,
    pub judge: Judge<'a>,
}

/// A commit that was looked at, and may have been refused before anything was sent.
pub(super) struct Plan<'a> {
    pub steps: Vec<Step<'a>>,
    /// Why it is refused even if all the steps are as they should be.
    pub refused: Option<Error>,
    /// There are steps that write, though it is refused: they have to be taken back.
    pub writes_in_vain: bool,
    /// What it has done once it is committed; leases, owners and deliveries are filled in by the steps' answers.
    pub committed: Committed,
}

/// Boxes each of a statement's values.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as $crate::providers::postgres::step::Value<'_>),*]
    };
}
pub(super) use values;

impl<'a> Step<'a> {
    /// Whatever it finds is as it should be.
    pub(super) fn run(sql: &'static str, values: Vec<Value<'a>>) -> Self {
        Self { sql, values, judge: Box::new(|_, _| Ok(())) }
    }

    /// It must give a row.
    pub(super) fn must_find(
        sql: &'static str,
        values: Vec<Value<'a>>,
        refusal: impl FnOnce() -> Error + Send + Sync + 'a,
    ) -> Self {
        let judge = |rows: Vec<Row>, _: &mut Committed| match rows.is_empty() {
            true => Err(Failure::Refused(refusal())),
            false => Ok(()),
        };
        Self { sql, values, judge: Box::new(judge) }
    }

    /// It must give none.
    pub(super) fn must_miss(
        sql: &'static str,
        values: Vec<Value<'a>>,
        refusal: impl FnOnce() -> Error + Send + Sync + 'a,
    ) -> Self {
        let judge = |rows: Vec<Row>, _: &mut Committed| match rows.is_empty() {
            true => Ok(()),
            false => Err(Failure::Refused(refusal())),
        };
        Self { sql, values, judge: Box::new(judge) }
    }

    pub(super) fn ask(
        sql: &'static str,
        values: Vec<Value<'a>>,
        judge: impl FnOnce(Vec<Row>, &mut Committed) -> Result<(), Failure> + Send + Sync + 'a,
    ) -> Self {
        Self { sql, values, judge: Box::new(judge) }
    }
}
