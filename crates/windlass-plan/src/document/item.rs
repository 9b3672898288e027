//! The fields of one item, with their defaults. Every field is read even after a problem, so that all of them are reported.

use std::collections::BTreeMap;

use windlass_domain::plan::{
    AtomId, Briefing, Cron, Escalation, InteractionMode, Item, ItemKind, OnFailure, OnStuck, PlanBudget, Schedule,
    Touches, Trouble,
};
use windlass_domain::{BaseCase, Budget, Usd};

use crate::check::{checks, paths};
use crate::fields::{Field, Fields, Unknown};
use crate::json::json;
use crate::problem::{Collector, Position};
use crate::value;
use crate::yaml::{Node, Value};
use crate::zone::known_zone;

/// Contracts §7: as many atoms as an objective has at most, where nothing else is said.
const MOST_ITEMS: usize = 200;
const LONGEST_WORD: usize = 100;
const LONGEST_LINE: usize = 200;

const KNOWN: &[&str] = &[
    "id",
    "type",
    "title",
    "tasks",
    "depends_on",
    "any_of",
    "speculative",
    "needs_approval",
    "agent",
    "skills",
    "pattern",
    "probe",
    "interaction_mode",
    "budget",
    "plan_budget",
    "verify",
    "gates",
    "touches",
    "input_artifacts_from",
    "follow_up_of",
    "continuation_of",
    "on_stuck",
    "on_failure",
    "escalation",
    "schedule",
    "timezone",
    "failure_context",
];

/// What was written where, for what can only be said about all items together.
pub(super) struct Entry {
    pub id: AtomId,
    pub at: Position,
    pub parent: Option<usize>,
    pub depends_on: Vec<(AtomId, Position)>,
    pub any_of: Option<(AtomId, Position)>,
    pub speculative: bool,
    pub inputs: Vec<(AtomId, Position)>,
}

/// A gate as it was written, which is judged by others.
pub(super) struct WrittenGate {
    pub value: serde_json::Value,
    pub at: Position,
}

#[derive(Default)]
pub(super) struct Reader {
    pub problems: Collector,
    pub entries: Vec<Entry>,
    pub gates: Vec<WrittenGate>,
    met: usize,
}

impl Reader {
    pub fn item(&mut self, node: &Node, parent: Option<usize>) -> Option<Item> {
        self.met += 1;
        if self.met == MOST_ITEMS + 1 {
            self.problems.report(node.at, format!("a plan has at most {MOST_ITEMS} items; join some of them"));
        }
        if self.met > MOST_ITEMS {
            return None;
        }
        let Some(fields) = Fields::of(node, &mut self.problems) else {
            self.problems
                .report(node.at, format!("an item is a mapping with `id`, `type` and `title`, not {}", node.kind()));
            return None;
        };
        self.require(&fields);
        let id = fields.get("id").and_then(|field| self.id(field));
        let title = fields.get("title").and_then(|field| self.line(field));
        let kind = fields.get("type").and_then(|field| self.kind(field, parent));
        let depends_on = self.ids(&fields, "depends_on");
        let inputs = self.ids(&fields, "input_artifacts_from");
        let any_of = fields.get("any_of").and_then(|field| Some((self.id(field)?, field.value.at)));
        let speculative = self.flag(&fields, "speculative", false);
        let touches = fields.get("touches").map(|field| self.touches(field)).unwrap_or_default();
        self.weigh(&fields, any_of.is_some(), speculative, &touches);
        let at = fields.get("id").map_or(fields.at, |field| field.value.at);
        let place = id.clone().map(|id| {
            let (depends_on, inputs) = (depends_on.clone(), inputs.clone());
            self.entries.push(Entry { id, at, parent, depends_on, any_of: any_of.clone(), speculative, inputs });
            self.entries.len() - 1
        });
        self.refuse_idle(&fields, kind, parent);
        let tasks = self.tasks(&fields, kind, place.or(parent));
        let gates = fields.get("gates").map(|field| self.gates(field)).unwrap_or_default();
        let verify = fields.get("verify").map(|field| checks(field.value, &mut self.problems)).unwrap_or_default();
        let schedule = self.schedule(&fields, kind);
        let timezone = self.timezone(&fields, kind, schedule.as_ref());
        let failure_context = self.goals_only(&fields, "failure_context", kind).and_then(|field| self.text(field));
        let named = |ids: Vec<(AtomId, Position)>| ids.into_iter().map(|(id, _)| id).collect();
        Some(Item {
            tasks,
            depends_on: named(depends_on),
            any_of: any_of.map(|(id, _)| id),
            speculative,
            needs_approval: self.flag(&fields, "needs_approval", true),
            agent: self.word(&fields, "agent").unwrap_or_else(|| "executor".to_owned()),
            skills: fields.get("skills").map(|field| self.words(field)).unwrap_or_default(),
            pattern: self.word(&fields, "pattern").unwrap_or_else(|| "generic".to_owned()),
            probe: self.flag(&fields, "probe", false),
            interaction_mode: self
                .choice(&fields, "interaction_mode", InteractionMode::WORDS, InteractionMode::parse)
                .unwrap_or(InteractionMode::ConfirmOnlyWhenRequired),
            budget: fields.get("budget").map(|field| self.budget(field)).unwrap_or_default(),
            plan_budget: fields.get("plan_budget").map(|field| self.plan_budget(field)).unwrap_or_default(),
            verify: BaseCase(verify),
            gates,
            touches,
            input_artifacts_from: named(inputs),
            follow_up_of: self.word(&fields, "follow_up_of"),
            continuation_of: self.word(&fields, "continuation_of"),
            on_stuck: self.on_stuck(&fields, kind),
            on_failure: self
                .choice(&fields, "on_failure", OnFailure::WORDS, OnFailure::parse)
                .unwrap_or(OnFailure::Report),
            escalation: fields.get("escalation").map(|field| self.escalation(field)).unwrap_or_default(),
            schedule,
            timezone,
            failure_context,
            briefing: Briefing::default(),
            // Last, so that everything above is read even if one of these is wrong.
            id: id?,
            kind: kind?,
            title: title?,
        })
    }

    /// What is missing may only be misspelt, which is then said instead.
    fn require(&mut self, fields: &Fields<'_>) {
        if fields.reject_unknown(KNOWN, &mut self.problems) == Unknown::Some {
            return;
        }
        for name in ["id", "type", "title"].into_iter().filter(|name| fields.get(name).is_none()) {
            self.problems.report(fields.at, format!("`{name}` is missing"));
        }
    }

    fn text(&mut self, field: Field<'_>) -> Option<String> {
        value::text(field, &mut self.problems).map(str::to_owned)
    }

    fn line(&mut self, field: Field<'_>) -> Option<String> {
        let line = value::text(field, &mut self.problems)?.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() || line.len() > LONGEST_LINE || line.chars().any(char::is_control) {
            let message = format!("`{}` must be one line of 1 to {LONGEST_LINE} letters", field.name);
            self.problems.report(field.value.at, message);
            return None;
        }
        Some(line)
    }

    pub(super) fn id(&mut self, field: Field<'_>) -> Option<AtomId> {
        let text = value::text(field, &mut self.problems)?;
        AtomId::parse(text).map_err(|not| self.problems.report(field.value.at, format!("`{}` {not}", field.name))).ok()
    }

    pub(super) fn ids(&mut self, fields: &Fields<'_>, name: &str) -> Vec<(AtomId, Position)> {
        let Some(field) = fields.get(name) else { return Vec::new() };
        let each = |reader: &mut Self, field: Field<'_>| Some((reader.id(field)?, field.value.at));
        self.list(field, each)
    }

    pub(super) fn words(&mut self, field: Field<'_>) -> Vec<String> {
        self.list(field, Self::one_word)
    }

    /// Each entry of a list, read as if the field held it alone.
    pub(super) fn list<T>(
        &mut self,
        field: Field<'_>,
        mut read: impl FnMut(&mut Self, Field<'_>) -> Option<T>,
    ) -> Vec<T> {
        match &field.value.value {
            Value::List(items) => {
                items.iter().filter_map(|value| read(self, Field { at: value.at, value, ..field })).collect()
            }
            Value::Null => Vec::new(),
            Value::Text(_) | Value::Map(_) => {
                let message = format!("`{}` is a list, not {}; write it in brackets", field.name, field.value.kind());
                self.problems.report(field.value.at, message);
                Vec::new()
            }
        }
    }

    fn one_word(&mut self, field: Field<'_>) -> Option<String> {
        let text = value::text(field, &mut self.problems)?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
        if text.is_empty() || text.len() > LONGEST_WORD || !text.chars().all(is_word) {
            let message = format!("`{}` must be a word of at most {LONGEST_WORD} letters", field.name);
            self.problems.report(field.value.at, message);
            return None;
        }
        Some(text.to_owned())
    }

    pub(super) fn word(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        fields.get(name).filter(is_given).and_then(|field| self.one_word(field))
    }

    pub(super) fn flag(&mut self, fields: &Fields<'_>, name: &str, default: bool) -> bool {
        fields.get(name).and_then(|field| value::boolean(field, &mut self.problems)).unwrap_or(default)
    }

    fn choice<T>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        fields.get(name).and_then(|field| self.one_of(field, words, parse))
    }

    fn one_of<T>(&mut self, field: Field<'_>, words: &[&str], parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let read = parse(value::text(field, &mut self.problems)?);
        if read.is_none() {
            self.problems.report(field.value.at, format!("`{}` must be one of {}", field.name, words.join(", ")));
        }
        read
    }

    fn kind(&mut self, field: Field<'_>, parent: Option<usize>) -> Option<ItemKind> {
        let kind = match value::text(field, &mut self.problems)? {
            "task" => ItemKind::Task,
            "project" => ItemKind::Project,
            "goal" => ItemKind::Goal,
            _ => {
                self.problems.report(field.value.at, "`type` must be one of task, project, goal");
                return None;
            }
        };
        if kind == ItemKind::Goal && parent.is_some() {
            self.problems.report(field.value.at, "a goal stands alone; make it a plan of its own");
        }
        Some(kind)
    }

    fn tasks(&mut self, fields: &Fields<'_>, kind: Option<ItemKind>, parent: Option<usize>) -> Vec<Item> {
        let field = fields.get("tasks").filter(is_given);
        match (kind, field) {
            (Some(ItemKind::Project), None) => {
                self.problems.report(fields.at, "a project needs `tasks`, the items it is made of");
                Vec::new()
            }
            (Some(ItemKind::Task | ItemKind::Goal), Some(field)) => {
                self.problems.report(field.at, "only a project holds `tasks`; write `type: project`");
                Vec::new()
            }
            (_, None) => Vec::new(),
            (_, Some(field)) => {
                if matches!(&field.value.value, Value::List(items) if items.is_empty()) {
                    self.problems.report(field.value.at, "a project needs at least one item in `tasks`");
                }
                self.list(field, |reader, field| reader.item(field.value, parent))
            }
        }
    }

    fn weigh(&mut self, fields: &Fields<'_>, is_choice: bool, speculative: bool, touches: &Touches) {
        let Some(field) = fields.get("speculative").filter(|_| speculative) else { return };
        if !is_choice {
            self.problems.report(field.at, "`speculative` is about choices; say of which group with `any_of`");
        }
        if !touches.services.is_empty() {
            self.problems
                .report(field.at, "what touches services is not tried beside another; leave `speculative` out");
        }
    }

    fn gates(&mut self, field: Field<'_>) -> Vec<serde_json::Value> {
        let each = |reader: &mut Self, field: Field<'_>| {
            let value = json(field.value, &mut reader.problems)?;
            reader.gates.push(WrittenGate { value: value.clone(), at: field.value.at });
            Some(value)
        };
        self.list(field, each)
    }

    pub(super) fn touches(&mut self, field: Field<'_>) -> Touches {
        let Some(fields) = self.mapping(field, &["paths", "services"]) else { return Touches::default() };
        let paths = fields.get("paths").filter(is_given).and_then(|field| paths(field, &mut self.problems));
        let services = fields.get("services").map(|field| self.words(field));
        Touches { paths: paths.unwrap_or_default(), services: services.unwrap_or_default() }
    }

    fn mapping<'a>(&mut self, field: Field<'a>, known: &[&str]) -> Option<Fields<'a>> {
        let fields = Fields::of(field.value, &mut self.problems);
        match &fields {
            Some(fields) => {
                fields.reject_unknown(known, &mut self.problems);
            }
            None => {
                let message = format!("`{}` is a mapping of {}", field.name, known.join(", "));
                self.problems.report(field.value.at, message);
            }
        }
        fields
    }

    pub(super) fn budget(&mut self, field: Field<'_>) -> Budget {
        let known = ["max_tokens", "max_cost_usd", "max_wall_time_seconds", "max_attempts", "max_planner_calls"];
        let mut budget = Budget::default();
        let Some(fields) = self.mapping(field, &known) else { return budget };
        self.count(&fields, "max_tokens", &mut budget.max_tokens);
        self.money(&fields, &mut budget.max_cost_usd);
        self.count(&fields, "max_wall_time_seconds", &mut budget.max_wall_time_seconds);
        self.count(&fields, "max_attempts", &mut budget.max_attempts);
        if let Some(field) = fields.get("max_planner_calls") {
            budget.max_planner_calls = value::count(field, &mut self.problems).unwrap_or_default();
        }
        budget
    }

    fn plan_budget(&mut self, field: Field<'_>) -> PlanBudget {
        let mut budget = PlanBudget::default();
        let Some(fields) = self.mapping(field, &["max_tokens", "max_cost_usd"]) else { return budget };
        self.count(&fields, "max_tokens", &mut budget.max_tokens);
        self.money(&fields, &mut budget.max_cost_usd);
        budget
    }

    /// At least one: a budget of nothing is work that cannot begin.
    pub(super) fn count<T: TryFrom<u64> + Default + PartialEq>(&mut self, fields: &Fields<'_>, name: &str, to: &mut T) {
        let Some(field) = fields.get(name) else { return };
        match value::count::<T>(field, &mut self.problems) {
            Some(count) if count == T::default() => {
                self.problems.report(field.value.at, format!("`{name}` must be at least 1"));
            }
            Some(count) => *to = count,
            None => {}
        }
    }

    fn money(&mut self, fields: &Fields<'_>, to: &mut Usd) {
        let Some(field) = fields.get("max_cost_usd") else { return };
        match value::number(field, &mut self.problems) {
            Some(dollars) if (0.0..=1e6).contains(&dollars) => *to = Usd::from_dollars(dollars),
            Some(_) => self.problems.report(field.value.at, "`max_cost_usd` must be an amount from 0 to 1000000"),
            None => {}
        }
    }

    fn escalation(&mut self, field: Field<'_>) -> BTreeMap<Trouble, Escalation> {
        let Some(fields) = self.mapping(field, Trouble::WORDS) else { return BTreeMap::new() };
        let given = fields.given(Trouble::WORDS);
        let read = |field: Field<'_>| {
            let to = self.one_of(field, Escalation::WORDS, Escalation::parse)?;
            let trouble = Trouble::parse(field.name)?;
            if let Some(objection) = cannot_follow(trouble, to) {
                self.problems.report(field.value.at, objection);
            }
            Some((trouble, to))
        };
        given.into_iter().filter_map(read).collect()
    }

    /// What would be read, shown and approved, and do nothing.
    fn refuse_idle(&mut self, fields: &Fields<'_>, kind: Option<ItemKind>, parent: Option<usize>) {
        let idle = [
            ("budget", "`budget` is for tasks and goals: each item of a project has its own; write it on the items"),
            ("agent", "`agent` is for tasks and goals: nobody works on a project itself; write it on the items"),
            ("probe", "`probe` is for tasks and goals: nobody works on a project itself; write it on the items"),
        ];
        let idle = idle.into_iter().filter(|_| kind == Some(ItemKind::Project));
        let planning = "`plan_budget` is for the whole plan; write it beside the plan's own `id`, or leave it out";
        let planning = parent.is_some().then_some(("plan_budget", planning));
        for (name, objection) in idle.chain(planning) {
            if let Some(field) = fields.get(name).filter(is_given) {
                self.problems.report(field.at, objection);
            }
        }
    }

    fn on_stuck(&mut self, fields: &Fields<'_>, kind: Option<ItemKind>) -> OnStuck {
        let said = self.choice(fields, "on_stuck", OnStuck::WORDS, OnStuck::parse);
        if let (Some(field), Some(ItemKind::Project)) = (fields.get("on_stuck").filter(is_given), kind) {
            self.problems.report(field.at, "`on_stuck` is for tasks and goals: a project has no attempts of its own");
        }
        said.unwrap_or(OnStuck::ConsultPlanner)
    }

    fn schedule(&mut self, fields: &Fields<'_>, kind: Option<ItemKind>) -> Option<Schedule> {
        let field = self.goals_only(fields, "schedule", kind)?;
        match value::text(field, &mut self.problems)? {
            "always_on" => Some(Schedule::AlwaysOn),
            text => Cron::parse(text)
                .map_err(|not| self.problems.report(field.value.at, format!("`schedule` {not}")))
                .ok()
                .map(Schedule::Cron),
        }
    }

    fn timezone(&mut self, fields: &Fields<'_>, kind: Option<ItemKind>, schedule: Option<&Schedule>) -> Option<String> {
        let field = self.goals_only(fields, "timezone", kind)?;
        let written = value::text(field, &mut self.problems)?;
        if schedule == Some(&Schedule::AlwaysOn) {
            self.problems.report(field.at, "`timezone` is for crons: what is `always_on` goes by no clock");
        }
        let known = known_zone(written).map_err(|meant| {
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            let objection = format!("`timezone` must be a name of the IANA's, such as `Europe/Berlin`{meant}");
            self.problems.report(field.value.at, objection);
        });
        known.ok()
    }

    fn goals_only<'a>(&mut self, fields: &Fields<'a>, name: &str, kind: Option<ItemKind>) -> Option<Field<'a>> {
        let field = fields.get(name).filter(is_given)?;
        if kind.is_some_and(|kind| kind != ItemKind::Goal) {
            self.problems.report(field.at, format!("`{name}` is for goals; write `type: goal`, or leave it out"));
        }
        Some(field)
    }
}

/// What a plan cannot have done about some trouble, and what it could say instead.
const fn cannot_follow(trouble: Trouble, escalation: Escalation) -> Option<&'static str> {
    match (trouble, escalation) {
        (_, Escalation::SpawnTask) => Some(
            "`spawn_task` cannot be had in this version: no items are added to a plan that is carried out; write `report`, which \
             has the plan written anew, or `escalate_human`",
        ),
        (Trouble::Stuck, Escalation::Retry) => {
            Some("`stuck` means that no attempt is left: raise `max_attempts` in `budget`, or write `escalate_human`")
        }
        _ => None,
    }
}

fn is_given(field: &Field<'_>) -> bool {
    field.value.value != Value::Null
}
