//! Objective files (contracts §7, contract v1.2 of seed 004): what was agreed on, and the graph to work through, written by hand or by
//! another program. Only what starts an objective is taken; the state of a run is not read back. A field that nobody knows is a
//! warning here, since others may have written more into it.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::graph::{Binding, Constraints, Objective};
use windlass_domain::plan::{AtomId, Briefing, Item, ItemKind, Plan};
use windlass_domain::{BaseCase, Check};

use super::item::{Entry, Reader};
use super::{front, tree};
use crate::check::checks;
use crate::fields::{Field, Fields};
use crate::problem::{Position, Problem, Problems};
use crate::value;
use crate::yaml::{self, Node, Value};

const MOST_BYTES: usize = 16 * 1024 * 1024;
pub(super) const LONGEST_TITLE: usize = 200;

const KNOWN: &[&str] =
    &["objective", "control", "atoms", "decompositions", "or_groups", "bindings", "trail", "corrections", "as_of"];
const OF_OBJECTIVE: &[&str] =
    &["goal", "base_case", "background_intent", "deliverables", "definition_of_done", "constraints"];
const OF_CONSTRAINTS: &[&str] = &[
    "max_iterations",
    "max_parallel_agents",
    "max_stall_count",
    "max_atoms",
    "max_choices",
    "max_split_depth",
    "max_replan_depth",
    "probe_before_switch",
];
const OF_ATOM: &[&str] = &[
    "id",
    "description",
    "status",
    "depends_on",
    "or_group",
    "verify",
    "touches",
    "budget",
    "agent",
    "pattern",
    "skills",
    "probe",
];
const STATUSES: &[&str] = &["pending", "in_progress", "resolved", "failed", "dropped"];
const OF_GROUP: &[&str] = &["choices", "selected", "failed", "speculative"];

/// What an objective is started from.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectiveFile {
    pub objective: Objective,
    pub plan: Plan,
    /// Atoms that the file says are done. Nobody has checked it.
    pub resolved: Vec<(AtomId, Binding)>,
    /// Choices that were taken, and those that failed, by group.
    pub selected: Vec<(AtomId, AtomId)>,
    pub failed: Vec<(AtomId, AtomId)>,
    pub warnings: Vec<Problem>,
}

/// Reads an objective file, with every problem at once.
pub fn parse_objective(document: &str) -> Result<ObjectiveFile, Problems> {
    let mut reader = FileReader::default();
    match reader.file(document) {
        Some(file) => reader.items.problems.finish(file),
        None => Err(reader.items.problems.into_problems("this is not an objective file")),
    }
}

#[derive(Default)]
pub(super) struct FileReader {
    pub items: Reader,
    warnings: Vec<Problem>,
    pub resolved: Vec<(AtomId, Position)>,
    /// Atoms that the file says have failed, or were dropped, by their place in `items.entries`.
    pub failed: Vec<usize>,
    pub dropped: Vec<usize>,
    /// Where each atom stands in `items.entries`. Of two of one name, the first.
    pub places: BTreeMap<AtomId, usize>,
}

/// Who holds whom, as it was written.
pub(super) type Parts = BTreeMap<AtomId, Vec<AtomId>>;

impl FileReader {
    fn file(&mut self, document: &str) -> Option<ObjectiveFile> {
        if document.len() > MOST_BYTES {
            let message = format!("this is larger than {} KiB; make it smaller", MOST_BYTES / 1024);
            self.report(Position::START, message);
            return None;
        }
        let halves = front::split(document, &mut self.items.problems)?;
        let node = yaml::read(halves.front, MOST_BYTES, &mut self.items.problems)?;
        let Some(fields) = self.fields(&node, KNOWN) else {
            self.report(node.at, "an objective file is a mapping with `objective` and `atoms`");
            return None;
        };
        self.warn_of_a_run(&fields);
        let objective = match fields.get("objective") {
            Some(field) => self.objective(field),
            None => self.missing(fields.at, "`objective` is missing: its goal and its base case"),
        };
        let mut atoms = fields.get("atoms").map(|field| self.atoms(field)).unwrap_or_default();
        if atoms.is_empty() && self.items.problems.is_empty() {
            self.report(fields.at, "`atoms` is missing: at least one thing to do");
        }
        let mut parts = fields.get("decompositions").map(|field| self.decompositions(field)).unwrap_or_default();
        let mut groups = fields.get("or_groups").map(|field| self.groups(field)).unwrap_or_default();
        let bindings = fields.get("bindings").map(|field| self.bindings(field)).unwrap_or_default();
        self.place(&parts, &groups);
        self.nested()?;
        self.fail(&mut groups);
        self.leave_out(&mut atoms, &mut parts, &mut groups)?;
        self.every_group_has_choices(&groups);
        tree::check(&self.items.entries, &mut self.items.problems);
        let objective = Objective { words: halves.body.trim().to_owned(), ..objective? };
        let resolved = self.resolved(&parts, &bindings);
        let plan = Plan(self.root(&objective, atoms, &parts));
        let choices = |of: fn(&Choices) -> &Vec<AtomId>| {
            let each = groups.iter().flat_map(move |(group, choices)| {
                of(choices).iter().map(move |choice| (group.clone(), choice.clone()))
            });
            each.collect()
        };
        Some(ObjectiveFile {
            objective,
            plan,
            resolved,
            selected: choices(|group| &group.selected),
            failed: choices(|group| &group.failed),
            warnings: std::mem::take(&mut self.warnings),
        })
    }

    pub fn report(&mut self, at: Position, message: impl Into<String>) {
        self.items.problems.report(at, message);
    }

    fn missing<T>(&mut self, at: Position, message: &str) -> Option<T> {
        self.report(at, message);
        None
    }

    pub fn warn(&mut self, at: Position, message: String) {
        self.warnings.push(Problem { at, message });
    }

    fn fields<'a>(&mut self, node: &'a Node, known: &[&str]) -> Option<Fields<'a>> {
        let fields = Fields::of(node, &mut self.items.problems)?;
        for field in fields.others(known) {
            self.warn(field.at, format!("`{}` means nothing here, and is left as it is", field.name));
        }
        Some(fields)
    }

    fn warn_of_a_run(&mut self, fields: &Fields<'_>) {
        for field in fields.given(&["control", "trail", "corrections"]) {
            if !is_empty(field.value) {
                self.warn(field.at, format!("`{}` is of an earlier run, and is not taken over", field.name));
            }
        }
    }

    fn objective(&mut self, field: Field<'_>) -> Option<Objective> {
        let Some(fields) = self.fields(field.value, OF_OBJECTIVE) else {
            return self.missing(field.value.at, "`objective` is a mapping with `goal` and `base_case`");
        };
        let goal = self.required(&fields, "goal");
        let base_case = match fields.get("base_case") {
            Some(field) if !is_empty(field.value) => checks(field.value, &mut self.items.problems),
            Some(_) | None => Vec::new(),
        };
        self.machine_checks(&fields, &base_case);
        let constraints = fields.get("constraints").map(|field| self.constraints(field)).unwrap_or_default();
        Some(Objective {
            background_intent: self.words(&fields, "background_intent"),
            deliverables: self.words(&fields, "deliverables"),
            definition_of_done: self.words(&fields, "definition_of_done"),
            base_case: BaseCase(base_case),
            constraints,
            goal: goal?,
            words: String::new(),
        })
    }

    fn machine_checks(&mut self, fields: &Fields<'_>, base_case: &[Check]) {
        if base_case.is_empty() && self.items.problems.is_empty() {
            let at = fields.get("base_case").map_or(fields.at, |field| field.at);
            self.report(at, "`base_case` says when it is done, and a machine must be able to tell: add a check, such as `{command: make test}`");
        }
    }

    fn required(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        match fields.get(name) {
            Some(field) => value::text(field, &mut self.items.problems).map(|text| text.trim().to_owned()),
            None => self.missing(fields.at, &format!("`{name}` is missing")),
        }
    }

    /// Text, or a list of which each entry is a line.
    fn words(&mut self, fields: &Fields<'_>, name: &str) -> String {
        let Some(field) = fields.get(name) else { return String::new() };
        match &field.value.value {
            Value::List(_) => {
                let lines = self.items.list(field, |reader, field| {
                    value::text(field, &mut reader.problems).map(|text| format!("- {}", text.trim()))
                });
                lines.join("\n")
            }
            Value::Null => String::new(),
            Value::Text(_) | Value::Map(_) => {
                value::text(field, &mut self.items.problems).unwrap_or_default().trim().to_owned()
            }
        }
    }

    fn constraints(&mut self, field: Field<'_>) -> Constraints {
        let mut constraints = Constraints::default();
        let Some(fields) = self.fields(field.value, OF_CONSTRAINTS) else {
            self.report(field.value.at, format!("`constraints` is a mapping of {}", OF_CONSTRAINTS.join(", ")));
            return constraints;
        };
        let mut passes = constraints.max_iterations.unwrap_or_default();
        self.items.count(&fields, "max_iterations", &mut passes);
        constraints.max_iterations = Some(passes);
        self.items.count(&fields, "max_parallel_agents", &mut constraints.max_parallel_agents);
        self.items.count(&fields, "max_stall_count", &mut constraints.max_stall_count);
        self.items.count(&fields, "max_atoms", &mut constraints.max_atoms);
        for (name, to) in [
            ("max_choices", &mut constraints.max_choices),
            ("max_split_depth", &mut constraints.max_split_depth),
            ("max_replan_depth", &mut constraints.max_replan_depth),
        ] {
            if let Some(count) = fields.get(name).and_then(|field| value::count(field, &mut self.items.problems)) {
                *to = count;
            }
        }
        constraints.probe_before_switch =
            self.items.flag(&fields, "probe_before_switch", constraints.probe_before_switch);
        constraints
    }

    fn atoms(&mut self, field: Field<'_>) -> Vec<Item> {
        let Value::List(nodes) = &field.value.value else {
            self.report(field.value.at, format!("`atoms` is a list, not {}", field.value.kind()));
            return Vec::new();
        };
        nodes.iter().filter_map(|node| self.atom(node)).collect()
    }

    fn atom(&mut self, node: &Node) -> Option<Item> {
        let Some(fields) = self.fields(node, OF_ATOM) else {
            return self.missing(node.at, "an atom is a mapping with `id` and `description`");
        };
        let Some(id_field) = fields.get("id") else { return self.missing(fields.at, "`id` is missing") };
        let id = self.items.id(id_field);
        let description = self.required(&fields, "description");
        let depends_on = self.items.ids(&fields, "depends_on");
        let any_of = match fields.get("or_group").filter(|field| field.value.value != Value::Null) {
            Some(field) => self.items.id(field).map(|group| (group, field.value.at)),
            None => None,
        };
        let (id, description) = (id?, description?);
        let place = self.items.entries.len();
        self.places.entry(id.clone()).or_insert(place);
        if let Some(field) = fields.get("status") {
            self.status(field, (&id, id_field.value.at, place));
        }
        self.items.entries.push(Entry {
            id: id.clone(),
            at: id_field.value.at,
            parent: None,
            depends_on: depends_on.clone(),
            any_of: any_of.clone(),
            speculative: false,
            inputs: Vec::new(),
        });
        let first = description.lines().next().unwrap_or_default();
        let title = first.chars().take(LONGEST_TITLE).collect();
        let Plan(item) = Plan::of_one(id, title, description);
        Some(Item {
            depends_on: depends_on.into_iter().map(|(id, _)| id).collect(),
            any_of: any_of.map(|(group, _)| group),
            verify: BaseCase(
                fields.get("verify").map(|field| checks(field.value, &mut self.items.problems)).unwrap_or_default(),
            ),
            touches: fields.get("touches").map(|field| self.items.touches(field)).unwrap_or_default(),
            budget: fields.get("budget").map(|field| self.items.budget(field)).unwrap_or_default(),
            agent: self.items.word(&fields, "agent").unwrap_or(item.agent),
            pattern: self.items.word(&fields, "pattern").unwrap_or(item.pattern),
            skills: fields.get("skills").map(|field| self.items.words(field)).unwrap_or_default(),
            probe: self.items.flag(&fields, "probe", false),
            ..item
        })
    }

    /// How far it had come, as far as that means something to who begins.
    fn status(&mut self, field: Field<'_>, (id, at, place): (&AtomId, Position, usize)) {
        let written = match &field.value.value {
            Value::Text(text) => text.as_str(),
            Value::Null => return,
            Value::List(_) | Value::Map(_) => field.value.kind(),
        };
        match written {
            "pending" | "in_progress" => {}
            "resolved" => self.resolved.push((id.clone(), at)),
            "failed" => self.failed.push(place),
            "dropped" => self.dropped.push(place),
            other => {
                let message = format!("`status` is one of {}, not `{other}`", STATUSES.join(", "));
                self.report(field.value.at, message);
            }
        }
    }

    fn decompositions(&mut self, field: Field<'_>) -> Parts {
        let mut parts = Parts::new();
        let Value::List(nodes) = &field.value.value else { return parts };
        for node in nodes {
            let Some(fields) = self.fields(node, &["parent", "children", "reason"]) else {
                self.report(node.at, "a decomposition is a mapping with `parent` and `children`");
                continue;
            };
            let parent = fields.get("parent").and_then(|field| self.items.id(field));
            let children = self.items.ids(&fields, "children");
            for (child, at) in &children {
                if !self.is_atom(child) {
                    self.report(*at, format!("there is no atom `{child}`"));
                }
            }
            match parent.filter(|parent| self.is_atom(parent)) {
                Some(parent) => parts.entry(parent).or_default().extend(children.into_iter().map(|(id, _)| id)),
                None => self.report(fields.at, "`parent` is missing, or is no atom"),
            }
        }
        parts
    }

    fn is_atom(&self, id: &AtomId) -> bool {
        self.places.contains_key(id)
    }

    fn groups(&mut self, field: Field<'_>) -> BTreeMap<AtomId, Choices> {
        let mut groups = BTreeMap::new();
        let Value::Map(entries) = &field.value.value else { return groups };
        for (key, node) in entries {
            let named = Field { name: "or_groups", at: key.at, value: key };
            let Some(group) = self.items.id(named) else { continue };
            let Some(fields) = self.fields(node, OF_GROUP) else {
                self.report(node.at, "an OR group is a mapping with `choices`");
                continue;
            };
            let choices = self.items.ids(&fields, "choices");
            if choices.len() < 2 {
                self.report(key.at, format!("`{group}` leaves no choice: name at least two, or make it no group"));
            }
            let selected = fields.get("selected").filter(|field| field.value.value != Value::Null);
            let selected = selected.and_then(|field| self.items.id(field)).into_iter().collect();
            let failed = self.items.ids(&fields, "failed").into_iter().map(|(id, _)| id).collect();
            let speculative = self.items.flag(&fields, "speculative", false);
            let group_choices = Choices { choices, selected, failed, speculative };
            self.contradictions(&group, key.at, &group_choices);
            groups.insert(group, group_choices);
        }
        groups
    }

    fn contradictions(&mut self, group: &AtomId, at: Position, of: &Choices) {
        for (choice, at) in &of.choices {
            if !self.is_atom(choice) {
                self.report(*at, format!("there is no atom `{choice}`"));
            }
        }
        let choices: BTreeSet<&AtomId> = of.choices.iter().map(|(choice, _)| choice).collect();
        for named in of.selected.iter().chain(&of.failed) {
            if !choices.contains(named) {
                self.report(at, format!("`{named}` is none of the choices of `{group}`"));
            }
        }
        if let Some(both) = of.selected.iter().find(|selected| of.failed.contains(selected)) {
            self.report(at, format!("`{both}` is selected in `{group}`, and has failed"));
        }
    }

    fn bindings(&mut self, field: Field<'_>) -> BTreeMap<AtomId, Binding> {
        let mut bindings = BTreeMap::new();
        let Value::Map(entries) = &field.value.value else { return bindings };
        for (key, node) in entries {
            let named = Field { name: "bindings", at: key.at, value: key };
            let Some(atom) = self.items.id(named) else { continue };
            let Some(fields) = self.fields(node, &["summary", "artifacts"]) else { continue };
            let summary = self.words(&fields, "summary");
            if fields.get("artifacts").is_some_and(|field| !is_empty(field.value)) {
                self.warn(key.at, format!("the artifacts of `{atom}` are not taken over; put them into the workspace"));
            }
            bindings.insert(atom, Binding { summary, artifacts: Vec::new(), files: Vec::new() });
        }
        bindings
    }

    /// Puts every atom below what holds it, and into the group that names it.
    fn place(&mut self, parts: &Parts, groups: &BTreeMap<AtomId, Choices>) {
        for (parent, children) in parts {
            let parent_at = self.places.get(parent).copied();
            for child in children {
                let Some(child_at) = self.places.get(child).copied() else { continue };
                let position = self.items.entries[child_at].at;
                if self.items.entries[child_at].parent.is_some() {
                    self.report(position, format!("`{child}` is a part of two atoms"));
                    continue;
                }
                self.items.entries[child_at].parent = parent_at;
            }
        }
        for (group, of) in groups {
            for (choice, position) in &of.choices {
                let Some(choice_at) = self.places.get(choice).copied() else { continue };
                let entry = &mut self.items.entries[choice_at];
                entry.speculative = of.speculative;
                match &entry.any_of {
                    Some((other, _)) if other != group => {
                        let message = format!("`{choice}` is a choice of `{other}` and of `{group}`");
                        self.report(*position, message);
                    }
                    _ => entry.any_of = Some((group.clone(), *position)),
                }
            }
        }
    }

    /// A group that no `or_groups` names has the choices that name it.
    fn every_group_has_choices(&mut self, groups: &BTreeMap<AtomId, Choices>) {
        let mut members: BTreeMap<AtomId, (usize, Position)> = BTreeMap::new();
        for (group, at) in self.items.entries.iter().filter_map(|entry| entry.any_of.as_ref()) {
            members.entry(group.clone()).or_insert((0, *at)).0 += 1;
        }
        let alone = members
            .into_iter()
            .filter(|(group, (number, _))| *number < 2 && groups.get(group).is_none_or(|of| of.choices.is_empty()));
        for (group, (_, at)) in alone.collect::<Vec<_>>() {
            self.report(at, format!("`{group}` leaves no choice: name at least two, or make it no group"));
        }
    }

    fn resolved(&mut self, parts: &Parts, bindings: &BTreeMap<AtomId, Binding>) -> Vec<(AtomId, Binding)> {
        let resolved = std::mem::take(&mut self.resolved);
        let mut taken = Vec::new();
        for (atom, at) in resolved {
            if parts.contains_key(&atom) {
                continue;
            }
            self.warn(at, format!("`{atom}` is taken as done, as the file says; nobody has checked it"));
            let none = Binding { summary: "done before".to_owned(), artifacts: Vec::new(), files: Vec::new() };
            taken.push((atom.clone(), bindings.get(&atom).cloned().unwrap_or(none)));
        }
        taken
    }

    /// The tree of what was written flat.
    fn root(&self, objective: &Objective, atoms: Vec<Item>, parts: &Parts) -> Item {
        let mut by_id: BTreeMap<AtomId, Item> = atoms.into_iter().map(|atom| (atom.id.clone(), atom)).collect();
        for entry in &self.items.entries {
            if let Some(item) = by_id.get_mut(&entry.id) {
                item.any_of = entry.any_of.as_ref().map(|(group, _)| group.clone());
                item.speculative = entry.speculative;
            }
        }
        let order: Vec<&AtomId> = self.items.entries.iter().map(|entry| &entry.id).collect();
        let held: BTreeSet<&AtomId> = parts.values().flatten().collect();
        let top: Vec<AtomId> = order.iter().filter(|id| !held.contains(*id)).map(|id| (*id).clone()).collect();
        let tasks = top.into_iter().filter_map(|id| take(&id, &mut by_id, parts)).collect();
        whole(objective, tasks, |id| order.contains(&id))
    }
}

/// What holds all atoms, under a name that none of them has.
fn whole(objective: &Objective, tasks: Vec<Item>, is_taken: impl Fn(&AtomId) -> bool) -> Item {
    let name = (0..).map(|number| if number == 0 { "objective".to_owned() } else { format!("objective-{number}") });
    let free = name.map(|name| AtomId::parse(&name).expect("a plain word")).find(|id| !is_taken(id));
    let Plan(root) = Plan::of_one(free.expect("one is free"), objective.title(), String::new());
    Item {
        kind: ItemKind::Project,
        tasks,
        verify: objective.base_case.clone(),
        briefing: Briefing { context: objective.context(), ..Briefing::default() },
        ..root
    }
}

/// One atom for all of it: what smaller parts it has is found out when it does not go at once.
pub fn one_atom(objective: &Objective) -> Item {
    let id = AtomId::parse("goal").expect("a plain word");
    let Plan(atom) = Plan::of_one(id, objective.title(), objective.goal.clone());
    Item { verify: objective.base_case.clone(), ..atom }
}

/// The graph of these atoms.
pub fn plan_of(objective: &Objective, atoms: Vec<Item>) -> Plan {
    let ids: Vec<AtomId> = atoms.iter().flat_map(Item::all).map(|item| item.id.clone()).collect();
    Plan(whole(objective, atoms, |id| ids.contains(id)))
}

/// Reads one atom as objective files have it. What it waits for is not looked up here.
pub fn parse_atom(text: &str) -> Result<Item, Problems> {
    let mut reader = FileReader::default();
    let read = yaml::read(text, MOST_BYTES, &mut reader.items.problems).and_then(|node| reader.atom(&node));
    // A file may hold more than is known here; whoever types one atom means every word of it.
    for warning in std::mem::take(&mut reader.warnings) {
        reader.report(warning.at, warning.message);
    }
    match read {
        Some(item) => reader.items.problems.finish(item),
        None => Err(reader.items.problems.into_problems("this is no atom")),
    }
}

fn take(id: &AtomId, from: &mut BTreeMap<AtomId, Item>, parts: &Parts) -> Option<Item> {
    let mut item = from.remove(id)?;
    for child in parts.get(id).into_iter().flatten() {
        item.tasks.extend(take(child, from, parts));
    }
    if !item.tasks.is_empty() {
        item.kind = ItemKind::Project;
    }
    Some(item)
}

#[derive(Default)]
pub(super) struct Choices {
    pub choices: Vec<(AtomId, Position)>,
    pub selected: Vec<AtomId>,
    pub failed: Vec<AtomId>,
    pub speculative: bool,
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        Value::Text(_) => false,
    }
}
