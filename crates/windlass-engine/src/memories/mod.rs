//! What a tenant remembers of its tasks: written in the very commit that ends one, kept ready to be searched in each process,
//! shown to people, and forgotten on their word.

mod forget;
mod known;
mod recall;
mod recollection;
mod remember;

pub(crate) use known::known_here;
pub use recall::Recalled;
pub(crate) use recall::recall;
pub(crate) use recollection::Recollections;
pub(crate) use remember::remembered;
