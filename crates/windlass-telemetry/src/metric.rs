//! One measurement, before it is added up. Names are the seed's, with dots; exporters write them as they must.

/// How measurements of a name are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Adds up.
    Counter,
    /// How often it was how much.
    Histogram,
    /// The newest stands.
    Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub kind: Kind,
    pub labels: Vec<(&'static str, String)>,
    pub value: u64,
}

impl Metric {
    pub const fn count(name: &'static str, value: u64) -> Self {
        Self { name, kind: Kind::Counter, labels: Vec::new(), value }
    }

    pub const fn measure(name: &'static str, value: u64) -> Self {
        Self { name, kind: Kind::Histogram, labels: Vec::new(), value }
    }

    pub const fn gauge(name: &'static str, value: u64) -> Self {
        Self { name, kind: Kind::Gauge, labels: Vec::new(), value }
    }

    #[must_use]
    pub fn with(mut self, label: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((label, value.into()));
        self
    }
}
