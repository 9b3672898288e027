//! What is known about models: context window, longest answer, prices. The table is `models.toml`, inside the binary; a
//! user's file of the same form replaces and adds entries. An entry serves every model whose name begins with its name, the
//! longest such entry first, so that dated versions need no entry of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use windlass_domain::{Asking, Usage, Usd};

use crate::effort::Effort;
use crate::tokens::Vocabulary;

/// For models that no table knows: small enough that nearly all of today's have it.
pub const DEFAULT_CONTEXT_WINDOW: u64 = 128_000;

/// How long an answer is thought to become of which neither the question nor a table says anything.
const ASSUMED_ANSWER: u64 = 16_384;

static BUILT_IN: LazyLock<Models> = LazyLock::new(|| {
    let by_name = parse(include_str!("../models.toml"), "the binary").expect("a test reads the built-in table");
    Models { by_name: Arc::new(by_name) }
});

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Models {
    by_name: Arc<BTreeMap<String, Model>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    pub context_window: u64,
    pub max_output: Option<u32>,
    pub vocabulary: Vocabulary,
    /// What OpenAI-compatible requests call the limit on the answer: newer models refuse `max_tokens`.
    pub takes_max_completion_tokens: bool,
    /// Whether it can be shown pictures.
    pub vision: bool,
    /// Whether it can be given tools; one that cannot is asked for one decision at a time.
    pub tool_calls: bool,
    /// How it is asked to think, where that is known.
    pub thinking: Option<Thinking>,
    /// How much it is asked to think; as much as it does by itself when absent.
    pub reasoning: Option<Effort>,
    /// Whether a server with OpenAI's chat completions wants the `reasoning_content` of its answers back.
    pub reasoning_content: bool,
    /// Nobody has told us when absent; the cost of a call is then unknown, not nothing.
    pub prices: Option<Prices>,
}

/// How a model that thinks is told how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// By a word, as OpenAI's are.
    Effort,
    /// By a number of tokens, as Anthropic's older ones are.
    Budget,
    /// By a word, and by its own judgement, as Anthropic's newer ones are; they refuse a number.
    Adaptive,
}

/// What an operator wants of a model besides what a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adjustment {
    pub reasoning: Option<Effort>,
    pub reasoning_content: Option<bool>,
    pub vision: Option<bool>,
    pub tool_calls: Option<bool>,
}

/// In nano-dollars per million tokens: whole numbers for every price there is, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    pub input: u64,
    pub cached_input: u64,
    pub cache_write: u64,
    pub output: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the table of models in {name} cannot be read; mend it:\n{problem}")]
pub struct BadModels {
    name: String,
    problem: String,
}

#[derive(Debug, thiserror::Error)]
#[error("models.\"{0}\": no table describes this model; describe it in models.toml")]
pub struct NotDescribed(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    models: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    context_window: u64,
    max_output: Option<u32>,
    #[serde(default)]
    vocabulary: Vocabulary,
    #[serde(default)]
    max_completion_tokens: bool,
    #[serde(default)]
    vision: bool,
    tool_calls: Option<bool>,
    thinking: Option<Thinking>,
    reasoning: Option<Effort>,
    #[serde(default)]
    reasoning_content: bool,
    input: Option<Price>,
    cached_input: Option<Price>,
    cache_write: Option<Price>,
    output: Option<Price>,
}

/// Dollars per million tokens.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
struct Price(u64);

impl TryFrom<f64> for Price {
    type Error = &'static str;

    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        if !(0.0..=1_000_000.0).contains(&dollars) {
            return Err("a price is dollars per million tokens, not negative and below a million");
        }
        Ok(Self(Usd::from_dollars(dollars).as_nanos()))
    }
}

impl Models {
    pub fn built_in() -> Self {
        BUILT_IN.clone()
    }

    /// Adds the entries of a user's table; one of the same name is replaced whole. `name` is for the error message.
    pub fn overridden_by(mut self, table: &str, name: &str) -> Result<Self, BadModels> {
        Arc::make_mut(&mut self.by_name).extend(parse(table, name)?);
        Ok(self)
    }

    /// Changes what is known of a model. One that no table describes cannot be changed: its window would then be taken for known.
    pub fn adjusted(mut self, name: &str, wanted: &Adjustment) -> Result<Self, NotDescribed> {
        let known = self.described(name).ok_or_else(|| NotDescribed(name.to_owned()))?;
        let model = Model {
            reasoning: wanted.reasoning.or(known.reasoning),
            reasoning_content: wanted.reasoning_content.unwrap_or(known.reasoning_content),
            vision: wanted.vision.unwrap_or(known.vision),
            tool_calls: wanted.tool_calls.unwrap_or(known.tool_calls),
            ..known
        };
        Arc::make_mut(&mut self.by_name).insert(name.to_lowercase(), model);
        Ok(self)
    }

    /// The entry for `model`, or what is assumed of a model that nobody has described. Gateways put the vendor before the
    /// name (`anthropic/claude-…`, `us.anthropic.claude-…`): the whole name is tried first, then what follows each `/` or `.`.
    pub fn find(&self, model: &str) -> Model {
        self.described(model).unwrap_or(Model::UNKNOWN)
    }

    /// The same, where somebody has described it: what is only assumed must not stop anybody.
    pub fn described(&self, model: &str) -> Option<Model> {
        let name = model.to_lowercase();
        let starts = std::iter::once(0).chain(name.match_indices(['/', '.']).map(|(at, _)| at + 1));
        starts.filter_map(|start| self.longest_prefix_of(&name[start..])).next()
    }

    fn longest_prefix_of(&self, name: &str) -> Option<Model> {
        let boundaries = name.match_indices(['-', ':', '@', '/']).map(|(at, _)| at);
        let mut ends = boundaries.chain(std::iter::once(name.len())).collect::<Vec<_>>();
        ends.reverse();
        ends.into_iter().find_map(|end| self.by_name.get(&name[..end])).copied()
    }
}

impl Model {
    const UNKNOWN: Self = Self {
        context_window: DEFAULT_CONTEXT_WINDOW,
        max_output: None,
        vocabulary: Vocabulary::O200k,
        takes_max_completion_tokens: false,
        vision: false,
        tool_calls: true,
        thinking: None,
        reasoning: None,
        reasoning_content: false,
        prices: None,
    };

    pub fn cost(&self, usage: &Usage) -> Option<Usd> {
        self.prices.map(|prices| prices.cost(usage))
    }

    /// In tokens; what is assumed where nobody has said.
    pub fn longest_answer(&self) -> u64 {
        self.max_output.map_or(ASSUMED_ANSWER, u64::from)
    }

    /// What a question of so many tokens may come to, at the dearest that reading it can be. An answer has as many tokens as it
    /// is said to have at most, but no more than the model can say.
    pub fn asking(&self, input: u64, said: Option<u64>) -> Asking {
        let output = match (said, self.max_output) {
            (Some(said), Some(can)) => said.min(u64::from(can)),
            (Some(said), None) => said,
            (None, _) => self.longest_answer(),
        };
        let dearest = |cache_write| self.cost(&Usage { input, cache_write, ..Usage::default() }).unwrap_or_default();
        let output_price = self.prices.map_or(Usd::ZERO, |prices| Usd::from_nanos(prices.output));
        Asking { input, input_cost: dearest(0).max(dearest(input)), output, output_price }
    }
}

impl Prices {
    /// Rounded up, once, at the end.
    pub fn cost(&self, usage: &Usage) -> Usd {
        let plain = usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_write);
        let parts = [
            (plain, self.input),
            (usage.cached_input, self.cached_input),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        let total = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum::<u128>();
        Usd::from_nanos(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

fn parse(table: &str, name: &str) -> Result<BTreeMap<String, Model>, BadModels> {
    let bad = |problem: String| BadModels { name: name.to_owned(), problem };
    let file = toml::from_str::<File>(table).map_err(|error| bad(error.to_string()))?;
    let model = |(key, entry): (String, Entry)| {
        entry
            .model()
            .map(|model| (key.to_lowercase(), model))
            .map_err(|problem| bad(format!("models.\"{key}\": {problem}")))
    };
    file.models.into_iter().map(model).collect()
}

impl Entry {
    fn model(self) -> Result<Model, &'static str> {
        let prices = match (self.input, self.output) {
            (Some(Price(input)), Some(Price(output))) => Some(Prices {
                input,
                output,
                // A provider that has no price of its own for these charges them as input.
                cached_input: self.cached_input.map_or(input, |price| price.0),
                cache_write: self.cache_write.map_or(input, |price| price.0),
            }),
            (None, None) if self.cached_input.is_none() && self.cache_write.is_none() => None,
            _ => return Err("give both `input` and `output`, or no price at all"),
        };
        if self.context_window == 0 {
            return Err("`context_window` must be above zero");
        }
        Ok(Model {
            context_window: self.context_window,
            max_output: self.max_output,
            vocabulary: self.vocabulary,
            takes_max_completion_tokens: self.max_completion_tokens,
            vision: self.vision,
            tool_calls: self.tool_calls.unwrap_or(true),
            thinking: self.thinking,
            reasoning: self.reasoning,
            reasoning_content: self.reasoning_content,
            prices,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        [models."m"]
        context_window = 10
        input = 1.0
        output = 2.0
        [models."m-big"]
        context_window = 20
        [models."n"]
        context_window = 30
        input = 3.0
        cached_input = 0.0375
        cache_write = 3.75
        output = 15
    "#;

    fn window(name: &str) -> u64 {
        Models { by_name: Arc::new(parse(TABLE, "t").expect("it is valid")) }.find(name).context_window
    }

    #[test]
    fn the_longest_prefix_at_a_boundary_wins() {
        assert_eq!(window("m"), 10);
        assert_eq!(window("M-2026-01-01"), 10);
        assert_eq!(window("m-big-2026"), 20);
        assert_eq!(window("m-bigger"), 10);
        assert_eq!(window("m2"), DEFAULT_CONTEXT_WINDOW);
        assert_eq!(window("vendor/m-big"), 20);
        assert_eq!(window("us.vendor.n-v1:0"), 30);
        assert_eq!(window("unheard-of"), DEFAULT_CONTEXT_WINDOW);
    }

    #[test]
    fn money_is_exact() {
        let model = Models { by_name: Arc::new(parse(TABLE, "t").expect("it is valid")) }.find("n");
        let usage = Usage { input: 1_000, cached_input: 300, cache_write: 200, output: 7 };
        // 500 × 3 + 300 × 0.0375 + 200 × 3.75 + 7 × 15 micro-dollars.
        assert_eq!(model.cost(&usage), Some(Usd::from_nanos(1_500_000 + 11_250 + 750_000 + 105_000)));
        assert_eq!(model.cost(&Usage { cached_input: 1, input: 1, ..Usage::default() }), Some(Usd::from_nanos(38)));
        let inconsistent = Usage { input: 1, cached_input: 9, ..Usage::default() };
        assert_eq!(model.cost(&inconsistent), Some(Usd::from_nanos(338)));
    }

    #[test]
    fn an_answer_may_become_as_long_as_it_is_said_to_or_as_the_model_can() {
        let models = Models::built_in().overridden_by(TABLE, "t").expect("it is valid");
        let output = |model: &str, said| models.find(model).asking(5, said).output;
        assert_eq!(
            (output("gpt-4o", Some(9)), output("gpt-4o", Some(99_999)), output("gpt-4o", None)),
            (9, 16_384, 16_384)
        );
        assert_eq!((output("unheard-of", Some(99_999)), output("unheard-of", None)), (99_999, ASSUMED_ANSWER));
        // Writing to a cache is dearer than reading.
        let asking = models.find("n").asking(1_000, Some(10));
        assert_eq!((asking.input_cost, asking.output_price), (Usd::from_nanos(3_750_000), Usd::from_dollars(15.0)));
        assert_eq!(models.find("unheard-of").asking(5, None).input_cost, Usd::ZERO);
    }

    #[test]
    fn no_price_is_not_a_price_of_nothing() {
        let models = Models::built_in();
        assert_eq!(models.find("unheard-of").cost(&Usage { input: 5, ..Usage::default() }), None);
        assert_eq!(models.find("rehearsal/executor").cost(&Usage { input: 5, ..Usage::default() }), Some(Usd::ZERO));
    }

    #[test]
    fn the_built_in_table_knows_the_default_model() {
        let model = Models::built_in().find("gpt-4o");
        assert_eq!((model.context_window, model.max_output), (128_000, Some(16_384)));
        let usage = Usage { input: 1_000_000, output: 100_000, ..Usage::default() };
        assert_eq!(model.cost(&usage), Some(Usd::from_dollars(3.5)));
    }

    #[test]
    fn a_users_table_replaces_and_adds() {
        let models = Models::built_in().overridden_by(TABLE, "mine.toml").expect("it is valid");
        assert_eq!(models.find("n-1").context_window, 30);
        assert_eq!(models.find("gpt-4o").context_window, 128_000);
    }

    #[test]
    fn an_operator_changes_what_is_wanted_and_nothing_else() {
        let wanted =
            Adjustment { reasoning: Some(Effort::Tokens(2_000)), vision: Some(false), ..Adjustment::default() };
        let models = Models::built_in().adjusted("Claude-Opus-4-1", &wanted).expect("it is described");
        let model = models.find("claude-opus-4-1-20250805");
        assert_eq!(
            (model.reasoning, model.vision, model.max_output),
            (Some(Effort::Tokens(2_000)), false, Some(32_000))
        );
        assert_eq!(models.find("claude-opus-4").reasoning, None);
        let error = Models::built_in().adjusted("my-own", &wanted).expect_err("nobody described it").to_string();
        assert_eq!(error, "models.\"my-own\": no table describes this model; describe it in models.toml");
    }

    #[test]
    fn a_wrong_table_says_where() {
        let check = |table: &str, expect: &str| {
            let error = Models::built_in().overridden_by(table, "mine.toml").expect_err("it is wrong").to_string();
            assert!(error.contains("mine.toml") && error.contains(expect), "{error}");
        };
        check("[models.a]\ncontext_window = 5\nprice = 3", "line 3, column 1");
        check("[models.a]\ncontext_window = -5", "line 2");
        check("[models.a]\ncontext_window = 5\ninput = -1", "not negative");
        check("[models.a]\ncontext_window = 5\ninput = 1", "models.\"a\": give both");
        check("[models.a]\ncontext_window = 0", "above zero");
        check("[models.a]\ncontext_window = 5\nreasoning = \"much\"", "`low`, `medium`, `high` or a number of tokens");
        check("[models.a]\ncontext_window = 5\nreasoning = 7", "at least 1024");
        check("[models.a]\ncontext_window = 1\n[models.a]\ncontext_window = 1", "line 3");
    }
}
