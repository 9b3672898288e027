//! The real coding agents by the real binary, with a rehearsal behind them.

mod terminal;
