//! Asking an embedder what texts mean, as far as that can be told from how near they are to each other. What it is sent is
//! redacted and short.

use std::pin::pin;

use futures_util::future::{Either, select};
use windlass_domain::{CancelSignal, Embedder};

use crate::engine::Shared;

/// Of each text.
const LONGEST_EMBEDDED: usize = 8_000;

/// One vector for each text.
pub(crate) async fn vectors(
    shared: &Shared,
    embedder: &dyn Embedder,
    texts: Vec<String>,
) -> Result<Vec<Vec<f32>>, String> {
    let asked = texts.len();
    let texts = texts.iter().map(|text| shared.redactor.redact(cut(text)).into_owned()).collect();
    let vectors = embedder.embed(texts).await?;
    match vectors.len() == asked {
        true => Ok(vectors),
        false => Err(format!("it answered with {} vectors for {asked} texts", vectors.len())),
    }
}

pub(crate) async fn unless_stopped<T>(
    asking: impl Future<Output = Result<T, String>>,
    cancel: &CancelSignal,
) -> Result<T, String> {
    match select(pin!(asking), cancel.wait()).await {
        Either::Left((answered, _)) => answered,
        Either::Right(_) => Err("it was stopped".to_owned()),
    }
}

/// The cosine of the angle between them; vectors of other lengths are alike in nothing.
pub(crate) fn likeness(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let product = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    let cosine = product(one, other) / lengths;
    if cosine.is_finite() { cosine } else { 0.0 }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_EMBEDDED)]
}
