//! Adapters against recorded streams of the real programs.
