//! Every byte that is kept passes the redactor here. What was redacted is also what is applied, so that replaying what is
//! stored gives the very same state.

use std::borrow::Cow;

use windlass_domain::{Encoded, EventFamily, Unreadable};
use windlass_policy::Redactor;

/// The event as it may be kept, and its stored form.
pub(crate) fn redacted<E: EventFamily>(event: E, redactor: &Redactor) -> Result<(E, Encoded), Unreadable> {
    let encoded = event.encode();
    match redactor.redact_json(encoded.data.get()) {
        Cow::Borrowed(_) => Ok((event, encoded)),
        Cow::Owned(text) => {
            let event = E::decode(encoded.kind, encoded.version, &text)?;
            let encoded = event.encode();
            Ok((event, encoded))
        }
    }
}
