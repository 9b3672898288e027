//! Pages: so many, after the last one of the page before. What says where a page begins is opaque to those who ask.

use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problems::Refusal;

const UNLESS_SAID: usize = 50;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// So many at most; 50 unless said.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<usize>,
    /// `next` of the page before.
    #[param(max_length = 200)]
    pub cursor: Option<String>,
}

pub struct Page<C> {
    pub limit: usize,
    pub after: Option<C>,
}

impl PageQuery {
    pub fn read<C: std::str::FromStr>(&self) -> Result<Page<C>, Refusal> {
        let limit = self.limit.unwrap_or(UNLESS_SAID);
        let unknown =
            || Refusal::new(StatusCode::BAD_REQUEST, "bad_cursor", "`cursor` is not the `next` of a page before");
        let after = match &self.cursor {
            None => None,
            Some(cursor) => Some(cursor.parse().map_err(|_| unknown())?),
        };
        Ok(Page { limit, after })
    }
}
