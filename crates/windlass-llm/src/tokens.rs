//! How many tokens a conversation holds. Nobody but the provider knows, so its last figure is the base; what was said
//! since is estimated from its length, and counted with a real vocabulary only when the estimate is too close to call. The
//! vocabularies are inside the binary and unpacked at the first count, never at start.

use windlass_domain::{Image, Message, ToolSpec, Usage};

use crate::chat::Opening;

/// Which vocabulary comes closest to the model's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vocabulary {
    #[default]
    O200k,
    Cl100k,
    /// Anthropic publishes none. Theirs makes more tokens of the same text, so o200k's count is raised by a quarter.
    Claude,
}

/// Role markers and separators around each message.
const PER_MESSAGE: u64 = 4;
/// By how much an estimate may be wrong: real text and code are within this of `estimate`.
const DOUBT: u64 = 2;

/// About how many tokens `text` is, erring upwards: one for three and a half ASCII characters, for two of the alphabets
/// that take two bytes a letter, and for one of all others.
pub fn estimate(text: &str) -> u64 {
    let count = |kind: fn(u8) -> bool| text.bytes().filter(|byte| kind(*byte)).count() as u64;
    let ascii = count(|byte| byte.is_ascii());
    let letters = count(|byte| (0xC0..0xE0).contains(&byte));
    let others = count(|byte| byte >= 0xE0);
    (ascii * 2).div_ceil(7) + letters.div_ceil(2) + others
}

/// What a picture is at most.
pub(crate) const LARGEST_IMAGE_TOKENS: u64 = 4_800;

/// A picture is read in patches: so many pixels are a token, up to a size to which larger ones are shrunk.
pub fn estimate_image(image: &Image) -> u64 {
    const PIXELS: u64 = 750;
    match u64::from(image.width) * u64::from(image.height) {
        0 => LARGEST_IMAGE_TOKENS,
        pixels => pixels.div_ceil(PIXELS).min(LARGEST_IMAGE_TOKENS) + 85,
    }
}

impl Vocabulary {
    pub fn count(self, text: &str) -> u64 {
        let name = match self {
            Self::O200k | Self::Claude => "o200k_base",
            Self::Cl100k => "cl100k_base",
        };
        let encoding = tiktoken::get_encoding(name).expect("Cargo.toml asks for both vocabularies");
        let tokens = encoding.count(text) as u64;
        if self == Self::Claude { (tokens * 5).div_ceil(4) } else { tokens }
    }
}

/// The running figure of one conversation.
#[derive(Debug)]
pub struct Gauge {
    vocabulary: Vocabulary,
    /// The provider's last figure. Before the first it is our estimate of the opening: that is small beside any window, so
    /// that its texts are not worth keeping for an exact count.
    metered: u64,
    estimated: u64,
    /// What the estimate stands for.
    tail: Vec<String>,
    /// The part of it that no vocabulary counts: pictures and thoughts.
    uncountable: u64,
    /// The provider has counted an answer that has not been pushed yet: so many tokens.
    counted_answer: Option<u64>,
    /// About how many tokens the newest answer is when it is sent back.
    said: u64,
    /// Tokens of the last figure that are never sent back: what the model thought before it spoke.
    thoughts: u64,
}

impl Gauge {
    pub fn new(opening: &Opening<'_>, vocabulary: Vocabulary) -> Self {
        let definition = |tool: &ToolSpec| format!("{} {} {}", tool.name, tool.description, tool.parameters);
        let tools = opening.tools.iter().map(|tool| estimate(&definition(tool)) + PER_MESSAGE);
        let metered = estimate(opening.system) + PER_MESSAGE + tools.sum::<u64>();
        Self {
            vocabulary,
            metered,
            estimated: 0,
            tail: Vec::new(),
            uncountable: 0,
            counted_answer: None,
            said: 0,
            thoughts: 0,
        }
    }

    pub fn push(&mut self, message: &Message) {
        let counted = self.counted_answer.take();
        match message {
            Message::Assistant { text, calls, reasoning } => {
                let calls = calls.iter().map(|call| format!("{} {}", call.tool, call.arguments.get()));
                let parts = std::iter::once(text.clone()).chain(calls).collect::<Vec<_>>();
                let kept = reasoning.iter().map(|thought| estimate(thought.content.get())).sum::<u64>();
                // Thoughts that are sent back are no longer than what was thought; how long, the provider alone knows.
                self.said = match kept {
                    0 => parts.iter().map(|part| estimate(part) + PER_MESSAGE).sum(),
                    _ => u64::MAX,
                };
                match counted {
                    Some(output) => self.thoughts = output.saturating_sub(self.said),
                    None => {
                        self.guess(kept);
                        parts.into_iter().for_each(|part| self.add(part));
                    }
                }
            }
            Message::User { text, images } => {
                self.guess(images.iter().map(estimate_image).sum());
                self.add(text.clone());
            }
            Message::Tool(result) => {
                self.guess(result.images.iter().map(estimate_image).sum());
                self.add(result.content.clone());
            }
        }
    }

    fn guess(&mut self, tokens: u64) {
        self.estimated += tokens;
        self.uncountable += tokens;
    }

    fn add(&mut self, text: String) {
        self.estimated += estimate(&text) + PER_MESSAGE;
        self.tail.push(text);
    }

    /// Everything pushed so far, and the answer that is in it.
    pub fn metered(&mut self, usage: &Usage) {
        self.metered = usage.total();
        self.estimated = 0;
        self.uncountable = 0;
        self.tail.clear();
        self.counted_answer = None;
        self.thoughts = usage.output.saturating_sub(self.said);
    }

    /// The same, before the answer has been pushed.
    pub fn answered(&mut self, usage: &Usage) {
        self.metered(usage);
        self.counted_answer = Some(usage.output);
    }

    pub const fn tokens(&self) -> u64 {
        self.metered + self.estimated
    }

    /// How long the next prompt is where that is more than `window`. Thoughts have been paid for and are not in it.
    pub fn overflow(&self, window: u64) -> Option<u64> {
        let prompt = self.tokens_near(window.saturating_add(self.thoughts)).saturating_sub(self.thoughts);
        (prompt > window).then_some(prompt)
    }

    pub fn tokens_near(&self, threshold: u64) -> u64 {
        let certain_to_stay_below = self.metered + self.estimated * DOUBT < threshold;
        let certain_to_exceed = self.metered + self.estimated / DOUBT > threshold;
        if certain_to_stay_below || certain_to_exceed {
            return self.tokens();
        }
        let count = |text: &String| self.vocabulary.count(text) + PER_MESSAGE;
        self.metered + self.uncountable + self.tail.iter().map(count).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::{Role, ToolCall, ToolResult};

    use super::*;

    fn gauge() -> Gauge {
        let opening = Opening {
            model: "m",
            temperature: None,
            max_output_tokens: None,
            system: "",
            tools: &[],
            answer_schema: None,
            agent: "a",
            role: Role::Executor,
        };
        let mut gauge = Gauge::new(&opening, Vocabulary::O200k);
        gauge.metered(&Usage::default());
        gauge
    }

    #[test]
    fn estimates_of_real_text_are_within_the_doubt() {
        let source = include_str!("conversation.rs");
        let prose = "The loop asks the model, runs what it wants, and asks again until the check passes. ".repeat(20);
        let json = serde_json::json!({"path": "src/main.rs", "content": source}).to_string();
        for text in [source, &prose, &json, "Приветствуем вас", "繰り返し処理を行う", "naïve café"]
        {
            let (guess, exact) = (estimate(text), Vocabulary::O200k.count(text));
            assert!(guess <= exact * DOUBT && guess * DOUBT >= exact, "{guess} against {exact}: {text:.40}");
        }
    }

    #[test]
    fn known_counts() {
        assert_eq!(Vocabulary::O200k.count("hello world"), 2);
        assert_eq!(Vocabulary::Cl100k.count("hello world"), 2);
        assert_eq!(Vocabulary::Claude.count("hello world, hello world!"), 8);
    }

    #[test]
    fn an_answer_is_counted_once() {
        let mut gauge = gauge();
        let answer = Message::assistant("word ".repeat(50), vec![ToolCall::new("a", "bash", "{}")]);
        gauge.answered(&Usage { input: 100, output: 60, ..Usage::default() });
        gauge.push(&answer);
        assert_eq!(gauge.tokens(), 160);
        gauge.push(&answer);
        assert!(gauge.tokens() > 200);
    }

    #[test]
    fn what_was_only_thought_takes_no_room() {
        let answer = Message::assistant("done", vec![]);
        let usage = Usage { input: 900, output: 500, ..Usage::default() };
        let mut live = gauge();
        live.answered(&usage);
        live.push(&answer);
        let mut rebuilt = gauge();
        rebuilt.push(&answer);
        rebuilt.metered(&usage);
        for mut gauge in [live, rebuilt] {
            assert_eq!((gauge.tokens(), gauge.overflow(1_000)), (1_400, None));
            assert_eq!(gauge.overflow(900), Some(906));
            gauge.push(&Message::user("word ".repeat(200)));
            assert!(gauge.overflow(1_000).is_some_and(|prompt| (1_100..1_200).contains(&prompt)));
        }
    }

    #[test]
    fn thoughts_that_are_sent_back_do_take_room() {
        let content = serde_json::value::to_raw_value("deep").expect("a string");
        let thought = windlass_domain::Reasoning { wire: windlass_domain::Dialect::Anthropic, after: 0, content };
        let answer = Message::Assistant { text: "done".into(), calls: vec![], reasoning: vec![thought] };
        let usage = Usage { input: 900, output: 500, ..Usage::default() };
        let mut live = gauge();
        live.answered(&usage);
        live.push(&answer);
        let mut rebuilt = gauge();
        rebuilt.push(&answer);
        assert!(rebuilt.tokens() > 6, "a thought that nobody has counted counts too");
        rebuilt.metered(&usage);
        for gauge in [live, rebuilt] {
            assert_eq!((gauge.tokens(), gauge.overflow(1_000)), (1_400, Some(1_400)));
        }
    }

    #[test]
    fn pictures_count_by_their_pixels() {
        let image = |width, height| Image {
            name: "a".into(),
            media_type: windlass_domain::MediaType::Png,
            bytes: 9,
            width,
            height,
            digest: windlass_domain::Digest::of(b""),
        };
        let mut gauge = gauge();
        gauge.push(&Message::User { text: String::new(), images: vec![image(1_000, 750), image(0, 0)] });
        assert_eq!(gauge.tokens(), 1_085 + 4_800 + PER_MESSAGE);
        // A close call counts the words anew, and the pictures as before.
        assert_eq!(gauge.tokens_near(5_000), gauge.tokens());
    }

    #[test]
    fn only_a_close_call_is_counted_exactly() {
        let mut gauge = gauge();
        gauge.metered(&Usage { input: 1_000, ..Usage::default() });
        let content = "a".repeat(7_000);
        let exact = 1_000 + Vocabulary::O200k.count(&content) + PER_MESSAGE;
        gauge.push(&Message::Tool(ToolResult {
            call_id: windlass_domain::CallId("a".into()),
            tool: "bash".into(),
            content,
            is_error: false,
            images: vec![],
        }));
        assert_eq!(gauge.tokens(), 3_004);
        assert_eq!(gauge.tokens_near(10_000), 3_004);
        assert_eq!(gauge.tokens_near(1_500), 3_004);
        assert_eq!(gauge.tokens_near(2_900), exact);
        assert_ne!(exact, 3_004);
    }
}
