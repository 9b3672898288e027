//! What stands behind the port. Each provider writes its own SQL, says where it must differ, and runs `conformance`.

pub mod postgres;
pub mod sqlite;
