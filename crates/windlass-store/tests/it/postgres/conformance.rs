//! The suite on PostgreSQL, an empty database for each case.

use windlass_store::conformance::CASES;

use crate::postgres::house::House;

#[test]
fn postgres_conforms() {
    let house = House::new();
    for (name, case) in CASES {
        println!("{name}");
        let store = house.open(&house.url());
        house.executor.run(case(store, house.executor.runtime()));
    }
}
