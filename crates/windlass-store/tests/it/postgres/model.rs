//! The model that SQLite is held against, for PostgreSQL: any sequence of commits is answered alike, one by one and many in
//! one transaction.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::model::{answers_at_once, answers_in_turn, sketches};
use crate::postgres::house::House;

const CASES: u32 = 40;

#[test]
fn commits_are_answered_as_the_model_answers() {
    let house = House::new();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let mut runner = TestRunner::new(config);
    let checked = runner.run(&sketches(), |sketches| {
        house.executor.run(answers_in_turn(&*house.open(&house.url()), &sketches));
        house.executor.run(answers_at_once(&*house.open(&house.url()), &sketches));
        Ok(())
    });
    checked.expect("it answers as the model does");
}
