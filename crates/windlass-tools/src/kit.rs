//! A kit: the tools of a role, by name, made once and shared by every execution that has them. What a tool shows of itself is
//! kilobytes, so that a thousand agents hold one copy. A kit grows by what an operator has configured; a role that must
//! not change anything takes only tools that look, and one with a fixed list only what is on it, whatever it is offered
//! (INV-04).

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use windlass_domain::{Delegation, ToolSpec};

use crate::context::Confinement;
use crate::error::Error;
use crate::schema::Schema;
use crate::tool::{Nature, Tool};
use crate::tools::{
    AskUser, Bash, ContextInspect, Edit, Glob, Grep, ListSkills, MemorySearch, Monitor, PublishDeliverable, PythonExec,
    Read, ReadSkill, RequestResearch, SaveMemo, SearchMemo, SkillExec, SpawnAgent, TellUser, UpdatePlan, ValidatePlan,
    WebFetch, WebSearch, Write,
};

#[derive(Clone)]
pub struct Kit {
    pub(crate) tools: Arc<BTreeMap<String, Arc<Registered>>>,
    pub(crate) confinement: Confinement,
    takes: Takes,
}

pub(crate) struct Registered {
    pub tool: Box<dyn Tool>,
    pub spec: ToolSpec,
    pub schema: Schema,
}

/// Which tools a role may have at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Everything,
    WhatLooks,
    Listed(&'static [&'static str]),
    Nothing,
}

/// Seed 001 §3.3: a proxy looks and says; whatever is to be done is another's.
const PROXY: &[&str] = &["context_inspect", "glob", "grep", "memory_search", "read", "tell_user", "web_search"];
/// Seed 001 §4.3: what a planner wants to know of the world beyond the workspace it lets others find out.
const PLANNER: &[&str] =
    &["glob", "grep", "list_skills", "memory_search", "read", "read_skill", "request_research", "validate_plan"];
/// Who finds out with the user what is wanted asks them as well.
const ALIGNMENT: &[&str] = &[
    "ask_user",
    "glob",
    "grep",
    "list_skills",
    "memory_search",
    "read",
    "read_skill",
    "request_research",
    "validate_plan",
];
/// Seed 001 §5.2.1. Its `read_file` is `read` here.
pub const RESEARCH_TOOL_ALLOWLIST: &[&str] = &["web_search", "read", "memory_search"];

static SEALED: LazyLock<Kit> = LazyLock::new(|| built_in(Takes::Everything, Confinement::Sealed));

static RESTRICTED: LazyLock<Kit> = LazyLock::new(|| built_in(Takes::Everything, Confinement::Restricted));

static UNCONFINED: LazyLock<Kit> = LazyLock::new(|| built_in(Takes::Everything, Confinement::Nothing));

static READ_ONLY: LazyLock<Kit> = LazyLock::new(|| {
    let kit = built_in(Takes::WhatLooks, Confinement::Sealed);
    // Whoever executes works from what it is handed and nothing older (contracts §9).
    kit.with(vec![Box::new(MemorySearch)]).expect("a test registers every built-in tool")
});

static PROXYS: LazyLock<Kit> = LazyLock::new(|| listed(PROXY));

static PLANNERS: LazyLock<Kit> = LazyLock::new(|| listed(PLANNER));

static ALIGNERS: LazyLock<Kit> = LazyLock::new(|| listed(ALIGNMENT));

static RESEARCHERS: LazyLock<Kit> = LazyLock::new(|| listed(RESEARCH_TOOL_ALLOWLIST));

impl Kit {
    /// Everything an executor has, over a sandbox that is worth this much.
    pub fn executor(confinement: Confinement) -> Self {
        match confinement {
            Confinement::Sealed => SEALED.clone(),
            Confinement::Restricted => RESTRICTED.clone(),
            Confinement::Nothing => UNCONFINED.clone(),
        }
    }

    /// For roles that must not change anything.
    pub fn read_only() -> Self {
        READ_ONLY.clone()
    }

    /// For who talks to the user.
    pub fn proxy() -> Self {
        PROXYS.clone()
    }

    /// For who writes plans, and for who advises.
    pub fn planner() -> Self {
        PLANNERS.clone()
    }

    /// For who finds out with the user what is wanted.
    pub fn alignment() -> Self {
        ALIGNERS.clone()
    }

    /// For who looks into a planner's question: of what is asked for, what is on the list. No other tool is in it or can be
    /// added, whatever names a model writes.
    pub fn research<T: AsRef<str>>(tools_allowed: &[T]) -> Self {
        let asked: Vec<&str> = tools_allowed.iter().map(|name| known_as(name.as_ref())).collect();
        let mut kit = RESEARCHERS.clone();
        Arc::make_mut(&mut kit.tools).retain(|name, _| asked.contains(&name.as_str()));
        kit
    }

    /// For whoever is only asked: no tool, and none can be added.
    pub fn none() -> Self {
        Self::empty(Takes::Nothing, Confinement::Sealed)
    }

    /// These tools and no others.
    pub fn only(tools: Vec<Box<dyn Tool>>, confinement: Confinement) -> Result<Self, Error> {
        Self::empty(Takes::Everything, confinement).with(tools)
    }

    /// And those of `tools` that the role may have.
    pub fn with(mut self, tools: Vec<Box<dyn Tool>>) -> Result<Self, Error> {
        let takes = self.takes;
        let fits = |tool: &dyn Tool| match takes {
            Takes::Everything => true,
            Takes::WhatLooks => tool.nature() == Nature::Looks,
            Takes::Listed(names) => names.contains(&tool.spec().name.as_str()),
            Takes::Nothing => false,
        };
        let mut registered = BTreeMap::clone(&self.tools);
        for tool in tools.into_iter().filter(|tool| fits(tool.as_ref())) {
            let entry = Registered::new(tool)?;
            let name = entry.spec.name.clone();
            if registered.insert(name.clone(), Arc::new(entry)).is_some() {
                return Err(Error::Duplicate { tool: name });
            }
        }
        self.tools = Arc::new(registered);
        Ok(self)
    }

    /// All but this one.
    #[must_use]
    pub fn without(mut self, tool: &str) -> Self {
        Arc::make_mut(&mut self.tools).remove(tool);
        self
    }

    pub fn has(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    fn empty(takes: Takes, confinement: Confinement) -> Self {
        Self { tools: Arc::default(), confinement, takes }
    }
}

impl Registered {
    fn new(tool: Box<dyn Tool>) -> Result<Self, Error> {
        let spec = tool.spec();
        let schema =
            Schema::compile(&spec.parameters).map_err(|what| Error::Schema { tool: spec.name.clone(), what })?;
        Ok(Self { tool, spec, schema })
    }
}

/// Seed 001's own names for what is called otherwise here.
fn known_as(name: &str) -> &str {
    match name {
        "read_file" => "read",
        name => name,
    }
}

fn built_in(takes: Takes, confinement: Confinement) -> Kit {
    let tools: Vec<Box<dyn Tool>> = vec![
        Box::new(AskUser),
        Box::new(Bash(confinement)),
        Box::new(Edit),
        Box::new(Glob),
        Box::new(Grep),
        Box::new(ListSkills),
        Box::new(Monitor),
        Box::new(PublishDeliverable),
        Box::new(PythonExec(confinement)),
        Box::new(Read),
        Box::new(ReadSkill),
        Box::new(SaveMemo),
        Box::new(SearchMemo),
        Box::new(SkillExec(confinement)),
        Box::new(SpawnAgent { default_timeout_seconds: Delegation::default().default_timeout_seconds }),
        Box::new(UpdatePlan),
        Box::new(WebFetch),
        Box::new(WebSearch),
        Box::new(Write),
    ];
    Kit::empty(takes, confinement).with(tools).expect("a test registers every built-in tool")
}

/// Of the tools of all roles, these. Whoever has such a list starts no program, hence the strictest confinement.
fn listed(names: &'static [&'static str]) -> Kit {
    let tools: Vec<Box<dyn Tool>> = vec![
        Box::new(AskUser),
        Box::new(ContextInspect),
        Box::new(Glob),
        Box::new(Grep),
        Box::new(ListSkills),
        Box::new(MemorySearch),
        Box::new(Read),
        Box::new(ReadSkill),
        Box::new(RequestResearch),
        Box::new(TellUser),
        Box::new(ValidatePlan),
        Box::new(WebSearch),
    ];
    let kit = Kit::empty(Takes::Listed(names), Confinement::Sealed).with(tools);
    kit.expect("a test registers every built-in tool")
}
