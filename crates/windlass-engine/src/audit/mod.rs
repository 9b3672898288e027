//! What the engine does about its audit: it seals the tenant's chain with signed heads that are kept outside the database
//! (`heads`), verifies the chain against them (`verify`), and reads it for people (`read`). Where keys and heads are kept, and
//! the signing, stand behind ports.

mod heads;
mod keyring;
mod pinned;
mod read;
mod refused;
mod verify;

pub use heads::Heads;
pub use keyring::Keyring;
pub use read::{AuditPage, AuditRecord};
pub use verify::Audited;
