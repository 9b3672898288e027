//! Whose signatures count. The keys are read anew whenever something is verified, so that a worker which lives long sees a
//! rotation.

use windlass_policy::approve::PublicKeys;

pub trait Keyring: Send + Sync {
    /// The current key and those before it. The error is for people, and says what to do.
    fn public_keys(&self) -> Result<PublicKeys, String>;
}
