//! A PostgreSQL instead of the data directory's database, as users meet it. `make test-postgres` runs these.

mod crowd;
mod machines;
mod outage;
mod serving;
mod standing_still;
mod store;
