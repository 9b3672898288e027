//! `[server.limits]` and `[tenants.NAME.limits]`: the most that one request may ask for. What is beyond it is refused, with the cap
//! in the words, and never lowered: whoever asks must know what they get. Where nobody says how much, it is the default or the
//! cap, whichever is less. It holds whatever scopes a token has; on the data directory itself the operator says what they like.

use serde::Deserialize;
use windlass_domain::approval::{WorstCase, bound_plan};
use windlass_domain::graph::Change;
use windlass_domain::plan::{Item, Plan, PlanBudget};
use windlass_domain::{Budget, Tenant, Usd};

use super::{ServerConfig, TenantsConfig};
use crate::arguments::{AligningLimits, Limits};
use crate::exit::WrongUse;

const HINT: &str = "ask for less, or for less at once; the operator sets it in `[server.limits]` or `[tenants.NAME.limits]` of windlass.toml";

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapConfig {
    pub max_tokens: Option<u64>,
    pub max_cost_usd: Option<f64>,
    pub max_attempts: Option<u32>,
}

impl CapConfig {
    pub fn objection(&self) -> Option<String> {
        let never = "nobody could ask for anything";
        match self {
            Self { max_tokens: Some(0), .. } => Some(format!("`max_tokens` must be at least 1: {never}")),
            Self { max_attempts: Some(0), .. } => Some(format!("`max_attempts` must be at least 1: {never}")),
            Self { max_cost_usd: Some(cost), .. } if !cost.is_finite() || *cost <= 0.0 => {
                Some("`max_cost_usd` must be an amount above 0, such as 100.00".to_owned())
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Of everything that is asked for at once: a plan's items, and the planner.
    tokens: u64,
    cost: Usd,
    /// Of each item.
    attempts: u32,
}

impl Default for Cap {
    fn default() -> Self {
        Self { tokens: 10_000_000, cost: Usd::from_nanos(100_000_000_000), attempts: 20 }
    }
}

impl Cap {
    /// The tenant's word before the server's.
    pub fn of(tenant: &Tenant, server: &ServerConfig, tenants: &TenantsConfig) -> Self {
        let theirs = tenants.get(tenant.as_str()).filter(|_| *tenant != Tenant::local()).map(|tenant| &tenant.limits);
        [Some(&server.limits), theirs].into_iter().flatten().fold(Self::default(), |cap, said| Self {
            tokens: said.max_tokens.unwrap_or(cap.tokens),
            cost: said.max_cost_usd.map_or(cap.cost, Usd::from_dollars),
            attempts: said.max_attempts.unwrap_or(cap.attempts),
        })
    }

    /// Tokens, dollars and attempts, for whoever wants to know before they ask.
    pub fn told(&self) -> (u64, f64, u32) {
        (self.tokens, self.cost.as_dollars(), self.attempts)
    }

    /// What nobody says is `unless_said` or what may be had.
    pub fn fill(&self, limits: &mut Limits, unless_said: &Budget) {
        limits.max_tokens.get_or_insert(unless_said.max_tokens.min(self.tokens));
        limits.max_cost.get_or_insert(unless_said.max_cost_usd.min(self.cost).as_dollars());
        limits.max_attempts.get_or_insert(unless_said.max_attempts.min(self.attempts));
    }

    /// The same of whoever finds out what is wanted.
    pub fn fill_planner(&self, limits: &mut AligningLimits) {
        let PlanBudget { max_tokens, max_cost_usd } = self.fill_plan(PlanBudget::default());
        limits.max_tokens.get_or_insert(max_tokens);
        limits.max_cost.get_or_insert(max_cost_usd.as_dollars());
    }

    /// The same of a plan that nobody wrote.
    pub fn fill_plan(&self, unless_said: PlanBudget) -> PlanBudget {
        let PlanBudget { max_tokens, max_cost_usd } = unless_said;
        PlanBudget { max_tokens: max_tokens.min(self.tokens), max_cost_usd: max_cost_usd.min(self.cost) }
    }

    /// Of a direct task, or of a planner.
    pub fn holds(&self, budget: &Budget) -> Result<(), WrongUse> {
        self.holds_sum(budget.max_tokens, budget.max_cost_usd)?;
        self.holds_attempts(budget.max_attempts, "a task")
    }

    pub fn holds_planner(&self, budget: &Budget) -> Result<(), WrongUse> {
        self.holds_sum(budget.max_tokens, budget.max_cost_usd)
    }

    pub fn holds_plan(&self, plan: &Plan) -> Result<(), WrongUse> {
        let WorstCase { tokens, cost_usd, .. } = bound_plan(plan, (0, Usd::ZERO));
        self.holds_sum(tokens, cost_usd)?;
        self.holds_items(plan.0.all())
    }

    /// What was agreed on before may be more than the cap, as long as it does not grow.
    pub fn holds_change(&self, change: &Change, was: Option<WorstCase>, comes_to: WorstCase) -> Result<(), WrongUse> {
        let is_more = |of: fn(&WorstCase) -> u64| was.as_ref().is_none_or(|was| of(&comes_to) > of(was));
        let tokens = if is_more(|worst| worst.tokens) { comes_to.tokens } else { 0 };
        let cost = if is_more(|worst| worst.cost_usd.as_nanos()) { comes_to.cost_usd } else { Usd::ZERO };
        self.holds_sum(tokens, cost)?;
        match change {
            Change::Graph { add, .. } => self.holds_items(add.iter().flat_map(|new| new.item.all())),
            Change::Objective { .. } | Change::Constraints { .. } | Change::Binding { .. } => Ok(()),
        }
    }

    fn holds_items<'a>(&self, items: impl IntoIterator<Item = &'a Item>) -> Result<(), WrongUse> {
        // What holds others is not worked on itself.
        let mut work = items.into_iter().filter(|item| item.tasks.is_empty());
        work.try_for_each(|item| self.holds_attempts(item.budget.max_attempts, &format!("`{}`", item.id)))
    }

    fn holds_sum(&self, tokens: u64, cost: Usd) -> Result<(), WrongUse> {
        if tokens > self.tokens {
            let most = self.tokens;
            return Err(beyond(format!(
                "{tokens} tokens are asked for, and a request may ask for {most} (`max_tokens`)"
            )));
        }
        if cost > self.cost {
            let (cost, most) = (cost.as_dollars(), self.cost.as_dollars());
            return Err(beyond(format!(
                "${cost:.2} are asked for, and a request may ask for ${most:.2} (`max_cost_usd`)"
            )));
        }
        Ok(())
    }

    fn holds_attempts(&self, attempts: u32, whose: &str) -> Result<(), WrongUse> {
        match attempts > self.attempts {
            true => Err(beyond(format!(
                "{attempts} attempts are asked for {whose}, and a request may ask for {} (`max_attempts`)",
                self.attempts
            ))),
            false => Ok(()),
        }
    }
}

fn beyond(what: String) -> WrongUse {
    WrongUse::new(what).hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> (ServerConfig, TenantsConfig) {
        #[derive(Deserialize)]
        struct Both {
            #[serde(default)]
            server: ServerConfig,
            #[serde(default)]
            tenants: TenantsConfig,
        }
        let Both { server, tenants } = toml::from_str(text).expect("it can be read");
        (server, tenants)
    }

    #[test]
    fn a_tenants_word_goes_before_the_servers_and_that_before_the_default() {
        let text = "[server.limits]\nmax_tokens = 7\nmax_attempts = 3\n[tenants.ours.limits]\nmax_tokens = 9\n";
        let (server, tenants) = config(text);
        let of = |name: &str| Cap::of(&Tenant::new(name), &server, &tenants);
        let cap = |tokens| Cap { tokens, attempts: 3, ..Cap::default() };
        assert_eq!((of("local"), of("ours"), of("others")), (cap(7), cap(9), cap(7)));
        let (server, tenants) = config("");
        assert_eq!(Cap::of(&Tenant::local(), &server, &tenants), Cap::default());
    }

    #[test]
    fn what_is_not_said_is_the_default_or_less_and_what_is_said_stays() {
        let cap = Cap { tokens: 50, cost: Usd::from_nanos(3_000_000_000), attempts: 2 };
        let mut limits = Limits { max_tokens: Some(70), ..Limits::default() };
        cap.fill(&mut limits, &Budget::default());
        assert_eq!((limits.max_tokens, limits.max_cost, limits.max_attempts), (Some(70), Some(2.0), Some(2)));
    }

    #[test]
    fn what_grows_beyond_it_is_refused_and_what_was_so_before_is_not() {
        let cap = Cap { tokens: 50, ..Cap::default() };
        let worst = |tokens| WorstCase { attempts: 1, tokens, cost_usd: Usd::ZERO, wall_time_seconds: 0 };
        let change = Change::Graph { add: Vec::new(), drop: Vec::new(), select: Default::default() };
        let is_held = |was: Option<u64>, comes_to| cap.holds_change(&change, was.map(worst), worst(comes_to)).is_ok();
        assert!(is_held(None, 50) && !is_held(None, 51) && !is_held(Some(50), 51));
        assert!(is_held(Some(90), 90) && is_held(Some(90), 60) && !is_held(Some(90), 91));
    }

    #[test]
    fn what_locks_everybody_out_is_refused() {
        for text in
            ["max_tokens = 0", "max_attempts = 0", "max_cost_usd = 0.0", "max_cost_usd = -1.0", "max_cost_usd = nan"]
        {
            let said: CapConfig = toml::from_str(text).expect("a number");
            let name = text.split(' ').next().expect("a name");
            assert!(said.objection().is_some_and(|told| told.contains(name)), "{text}");
        }
        assert_eq!(CapConfig::default().objection(), None);
    }
}
