//! The console: the pages by which people look on and decide, from inside the program. They are open to everybody, since there is nothing
//! of anybody's in them: whoever opens them is asked for a token by the page, and the API asks for it again.

mod files;
mod serve;

pub use serve::{is_page, serve};
