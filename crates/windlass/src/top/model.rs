//! All that is shown, as a value: what was told last, and where somebody is in it.

use windlass_domain::SessionId;

use super::field::Field;
use super::sight::{Desk, Happening, Item, Look, Talk, Waiting};
use crate::show::Line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Stream,
    Review,
    Activity,
}

impl Page {
    pub const ALL: [Self; 3] = [Self::Stream, Self::Review, Self::Activity];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "Stream",
            Self::Review => "Review",
            Self::Activity => "Activity",
        }
    }

    pub fn number(self) -> usize {
        Self::ALL.iter().position(|page| *page == self).unwrap_or_default()
    }

    /// So many pages on, round and round.
    pub fn on(self, by: usize) -> Self {
        Self::ALL[(self.number() + by) % Self::ALL.len()]
    }
}

#[derive(Debug, Clone)]
pub struct Model {
    /// Whose data is shown.
    pub place: String,
    pub size: (u16, u16),
    pub page: Page,
    /// None: nothing was told yet.
    pub desk: Option<Desk>,
    pub review: Review,
    pub stream: Stream,
    pub activity: Activity,
    /// What the program says, until a key is pressed.
    pub remark: Vec<Line>,
    /// Why nothing is told at the moment.
    pub away: Option<String>,
    pub shows_keys: bool,
    pub looks: Looks,
}

/// What is being looked at: the same is not looked at twice at a time, and what happens meanwhile is looked at once more.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    pub under_way: Vec<Look>,
    pub again: Vec<Look>,
}

#[derive(Debug, Clone, Default)]
pub struct Review {
    /// What is to be decided. It stays until somebody goes on, also when it does not wait any more.
    pub active: Option<String>,
    pub item: Option<Item>,
    pub step: Step,
    pub scroll: usize,
    /// Whether it has the whole page.
    pub shows_everything: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Step {
    #[default]
    Looking,
    /// A yes that is asked for twice was said once.
    Twice,
    Declining(Field),
    SendingBack(Field),
    Replying(Field),
    /// The answer is on its way.
    Sending,
}

#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// Which conversation is shown; none: the newest there is.
    pub session: Option<SessionId>,
    /// The folder of the conversation with which it began, and where its folder is.
    pub home: Option<(SessionId, String)>,
    pub talk: Option<Talk>,
    pub field: Field,
    pub is_writing: bool,
    /// Whether something is on its way.
    pub is_saying: bool,
    /// Which of the conversations is chosen, while one is.
    pub choosing: Option<usize>,
    /// Rows from the end.
    pub scroll: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// Newest first.
    pub happened: Vec<Happening>,
    pub is_read: bool,
    pub more_before: Option<u64>,
    /// Which one is chosen; none: always the newest.
    pub chosen: Option<u64>,
    pub filter: Field,
    pub is_filtering: bool,
    /// Whether bookkeeping is shown as well.
    pub shows_everything: bool,
    /// The record behind one, while it is open.
    pub record: Option<Vec<Line>>,
    pub scroll: usize,
}

impl Model {
    pub fn new(place: String, home: Option<(SessionId, String)>) -> Self {
        let session = home.as_ref().map(|(session, _)| *session);
        Self {
            place,
            size: (80, 24),
            page: Page::Review,
            desk: None,
            review: Review::default(),
            stream: Stream { session, home, ..Stream::default() },
            activity: Activity::default(),
            remark: Vec::new(),
            away: None,
            shows_keys: false,
            looks: Looks::default(),
        }
    }

    pub fn waiting(&self) -> &[Waiting] {
        self.desk.as_ref().map_or(&[], |desk| &desk.waiting)
    }

    /// What is to be decided, if it still waits.
    pub fn active(&self) -> Option<&Waiting> {
        let active = self.review.active.as_deref()?;
        self.waiting().iter().find(|waiting| waiting.id == active)
    }

    /// The line that is being written, if one is.
    pub const fn field(&mut self) -> Option<&mut Field> {
        match self.page {
            Page::Review => match &mut self.review.step {
                Step::Declining(field) | Step::SendingBack(field) | Step::Replying(field) => Some(field),
                Step::Looking | Step::Twice | Step::Sending => None,
            },
            Page::Stream if self.stream.is_writing => Some(&mut self.stream.field),
            Page::Activity if self.activity.is_filtering => Some(&mut self.activity.filter),
            Page::Stream | Page::Activity => None,
        }
    }
}

impl Activity {
    /// Those that are asked for.
    pub fn shown(&self) -> Vec<&Happening> {
        let filter = self.filter.text().to_lowercase();
        let wanted: Vec<&str> = filter.split_whitespace().collect();
        let is_shown = |happening: &&Happening| {
            (self.shows_everything || !happening.is_quiet) && wanted.iter().all(|word| happening.words.contains(word))
        };
        self.happened.iter().filter(is_shown).collect()
    }
}
