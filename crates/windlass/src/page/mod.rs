//! One page of what happened, for a browser: `story` puts records together into turns and calls, `html` writes them down. The
//! page is whole in itself and runs nothing; every word in it that somebody wrote is text.

mod html;
mod story;

pub use html::page;
pub use story::Story;
