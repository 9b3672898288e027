//! What a person or a script sees: lines on a terminal, the same lines without colour, or JSON.

mod card;
mod change;
mod compaction;
mod complain;
mod difference;
mod foreign;
mod fork;
mod json;
mod known;
mod line;
mod narrate;
mod output;
mod pattern;
mod plan_card;
mod planned;
mod question;
mod screen;
mod sheet;
mod style;
mod teller;
mod terminal;
mod turn;
mod worker_log;
mod wrap;

pub use card::{at_worst, card, card_in_short, consequences, figures};
pub use change::{change_lines, preview_lines};
pub use complain::{complain, mention, print_log};
pub use difference::differences;
pub use foreign::doubted;
pub use fork::{forked as forked_line, left_out as left_out_line};
pub use json::{print as print_json, record as json_record, result as json_result, word};
#[cfg(test)]
pub use line::rows_of;
pub use line::{Length, Line, headline, quoted, verbatim};
pub use narrate::{Narrator, check_in_a_line, counted, duration, finish, subject};
pub use output::{Trouble, WhenFull, output};
pub use plan_card::plan as plan_lines;
pub use planned::{graph_story, name as part_name};
pub use question::{question, question_in_short};
pub use screen::Screen;
pub use sheet::Sheet;
pub use style::Style;
pub use teller::{Hush, Teller, teller};
pub use turn::turn as turn_lines;
pub use worker_log::WorkerLog;
pub use wrap::{shortened, shortened_to_end, width_of};
