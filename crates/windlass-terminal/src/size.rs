//! How large a terminal is. Whatever is asked for, there is something to see and memory for it.

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

const LEAST: Size = Size { cols: 2, rows: 1 };
const MOST: Size = Size { cols: 1_000, rows: 500 };

impl Size {
    /// What programs expect who are not told otherwise.
    pub const USUAL: Self = Self { cols: 80, rows: 24 };

    /// The nearest that there may be.
    #[must_use]
    pub fn within_bounds(self) -> Self {
        Self { cols: self.cols.clamp(LEAST.cols, MOST.cols), rows: self.rows.clamp(LEAST.rows, MOST.rows) }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}x{}", self.cols, self.rows)
    }
}
