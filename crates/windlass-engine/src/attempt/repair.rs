//! An agent whose last word a program reads, and which has not the form that was asked for, is asked for it once more: once in an
//! execution, counted in its journal, so that a crash asks nobody a third time. A planner whose answer is still no plan has
//! failed, and says why; of everybody else's words something can be made in any case.

use windlass_domain::execution::{AgentInjection, Asked, InjectionReceived, Launch, Outcome};
use windlass_domain::graph::Repeated;
use windlass_domain::plan::Plan;
use windlass_domain::research::ResearchLimits;
use windlass_domain::role_output::{AgentResponse, read_agent_response, read_probe_report, read_route_decision};
use windlass_domain::task::{Part, PartOf, TaskCreated, TaskState};
use windlass_domain::{ErrorCode, ErrorDetails, Host as _, MessageId, Role};

use super::driver::Driver;
use super::inputs::Following;
use super::report::WorkerSaid;
use crate::Error;
use crate::control::hear;
use crate::engine::Engine;
use crate::host::{ExecutionHost, wrong};
use crate::plans::{There, Writes, Written, read_written, unfit_written};

const PLANNER: &str = include_str!("../../../../prompts/repair/planner.md");
const CORRECTION: &str = include_str!("../../../../prompts/repair/correction.md");
const PROXY: &str = include_str!("../../../../prompts/repair/proxy.md");
const PROBE: &str = include_str!("../../../../prompts/repair/probe.md");
const WORKER: &str = include_str!("../../../../prompts/repair/worker.md");
const MOST_REPAIRS: u32 = 1;
/// Of what is wrong, so much is told: a document of mistakes must not fill the window.
const MOST_PROBLEM_CHARS: usize = 8_000;

/// What a planner's answer comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannerSaid {
    /// A plan that can be carried out, and the document that it was read from.
    Plan { written: Box<Written>, response: AgentResponse },
    /// It goes on once its questions are answered.
    NeedsResearch(AgentResponse),
    /// There is none to be made; why, in its own words.
    NoPlan(AgentResponse),
    /// One that nobody wants once more.
    Repeated(Repeated),
    /// Nothing that can be used; what is wrong with it.
    Unusable(String),
}

pub fn planner_said(text: &str, there: There<'_>) -> PlannerSaid {
    let response = match read_agent_response(text) {
        Ok(response) => response,
        Err(problem) => return PlannerSaid::Unusable(problem),
    };
    let Some(action) = &response.plan_action else {
        return match response.needs_research {
            true => PlannerSaid::NeedsResearch(response),
            false => PlannerSaid::NoPlan(response),
        };
    };
    let document = match there.writes {
        Writes::Plan => "plan",
        Writes::Objective => "objective",
    };
    match read_written(&action.plan_markdown, there.writes) {
        Ok(written) => match unfit_written(&written, there) {
            none if none.is_empty() => PlannerSaid::Plan { written: Box::new(written), response },
            reasons => cannot_be_done(&reasons),
        },
        Err(_) if response.needs_research => PlannerSaid::NeedsResearch(response),
        Err(problems) => PlannerSaid::Unusable(format!("the {document} document is {}", wrong(&problems))),
    }
}

fn cannot_be_done(reasons: &[String]) -> PlannerSaid {
    let listed: Vec<String> = reasons.iter().map(|reason| format!("- {reason}")).collect();
    PlannerSaid::Unusable(format!("the plan cannot be carried out:\n{}", listed.join("\n")))
}

impl Engine {
    /// The same, where it is known for whom the planner `created` plans, and what was planned there before.
    pub(crate) async fn planner_said(&self, text: &str, created: &TaskCreated) -> Result<PlannerSaid, Error> {
        let said = planner_said(text, There::of(created, &self.shared));
        let PlannerSaid::Plan { written, .. } = &said else { return Ok(said) };
        let plan = &written.plan;
        let unknown = self.unknown_earlier(plan, created).await?;
        if !unknown.is_empty() {
            return Ok(cannot_be_done(&unknown));
        }
        let repeated = self.repeats(plan, created).await?;
        Ok(repeated.map_or(said, PlannerSaid::Repeated))
    }

    /// The earlier plans that it goes on from and that are not there, a sentence for each.
    pub(crate) async fn unknown_earlier(&self, plan: &Plan, created: &TaskCreated) -> Result<Vec<String>, Error> {
        let Some(PartOf { root, part: Part::Plan { .. }, .. }) = &created.part_of else { return Ok(Vec::new()) };
        let following = Following { task: *root, folder: &created.workspace };
        let mut unknown = Vec::new();
        for item in plan.0.all() {
            for named in item.follow_up_of.iter().chain(&item.continuation_of) {
                if self.earlier_plan(following, named).await?.is_none() {
                    unknown.push(format!(
                        "`{}` goes on from `{named}`, and there is no such earlier plan of this folder: leave that out, or name one by its id or its task's",
                        item.id
                    ));
                }
            }
        }
        Ok(unknown)
    }

    /// Which earlier plan this one is, that the planner `created` writes. Of what is still to be agreed on, the same graph may serve
    /// another objective.
    pub(crate) async fn repeats(&self, plan: &Plan, created: &TaskCreated) -> Result<Option<Repeated>, Error> {
        match &created.part_of {
            Some(PartOf { root, part: Part::Plan { aligns: false, .. }, .. }) => {
                Ok(self.former_plans(*root).await?.repeated(plan))
            }
            _ => Ok(None),
        }
    }
}

/// For whoever wrote it.
pub fn do_otherwise(repeated: Repeated) -> String {
    format!("this is {repeated}: do something different, or say that it cannot be done, and why")
}

impl Driver {
    /// What a planner's last word comes to; `None` where it is no planner's, or none.
    pub(super) async fn planner_said(&self, launch: &Launch, outcome: &Outcome) -> Result<Option<PlannerSaid>, Error> {
        match (launch.role, launch.asked, outcome) {
            (Role::Planner, Asked::Work | Asked::Alignment, Outcome::Completed { message }) => {
                self.engine.planner_said(message, self.created()?).await.map(Some)
            }
            (Role::Planner, Asked::Correction, Outcome::Completed { message }) => {
                let problem = self.engine.no_change_in(message, self.created()?).await?;
                Ok(problem.map(PlannerSaid::Unusable))
            }
            _ => Ok(None),
        }
    }

    /// Tells an agent that has to say its last word anew, and why; whether it has to.
    pub(super) fn asks_again(
        &self,
        host: &ExecutionHost,
        launch: &Launch,
        outcome: &Outcome,
        (said, awaits): (Said<'_>, Awaits),
    ) -> Result<bool, Error> {
        let asked = repair(launch, outcome, awaits, (host.state().repairs, said));
        let Some(injection) = asked else { return Ok(false) };
        let shared = &self.engine.shared;
        let message_id = MessageId::new(shared.wall(), shared.runtime.random());
        // It may quote what the agent wrote, which may be what the agent has read.
        self.inbox.put(InjectionReceived { message_id, injection, taint: host.taint() });
        host.hear().map_err(|refused| self.refused(refused))
    }
}

/// What a last word comes to that a program reads.
#[derive(Debug, Clone, Copy)]
pub enum Said<'a> {
    Planner(&'a PlannerSaid),
    Worker(&'a WorkerSaid),
    /// It is for people, or read by whoever hears it.
    Words,
}

impl<'a> Said<'a> {
    pub fn of(planner: Option<&'a PlannerSaid>, worker: Option<&'a WorkerSaid>) -> Self {
        planner.map(Self::Planner).or(worker.map(Self::Worker)).unwrap_or(Self::Words)
    }
}

/// Whether an answer is on its way to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    Research,
    Nothing,
}

/// What an agent that has said its last word is told, if it has to say it anew. `repairs` is how often it has been.
fn repair(
    launch: &Launch,
    outcome: &Outcome,
    awaits: Awaits,
    (repairs, said): (u32, Said<'_>),
) -> Option<AgentInjection> {
    let Outcome::Completed { message } = outcome else { return None };
    if repairs >= MOST_REPAIRS || awaits == Awaits::Research {
        return None;
    }
    let (prompt, problem) = match (launch.role, said) {
        (_, Said::Planner(PlannerSaid::Unusable(problem))) if launch.asked == Asked::Correction => {
            (CORRECTION, problem.clone())
        }
        (_, Said::Planner(PlannerSaid::Unusable(problem))) => (PLANNER, problem.clone()),
        (_, Said::Planner(PlannerSaid::Repeated(repeated))) => (PLANNER, do_otherwise(*repeated)),
        (_, Said::Worker(Err(problem))) => (WORKER, problem.clone()),
        (Role::Proxy, _) => (PROXY, read_route_decision(message).err()?),
        (Role::Probe, _) => (PROBE, read_probe_report(message).err()?),
        _ => return None,
    };
    Some(AgentInjection::repair(prompt.replacen("{problem}", &shortened(problem), 1).trim()))
}

impl Driver {
    /// Whether a planner that has said something goes on once others have found something out. One that has its plan waits for
    /// nobody, unless it says so.
    pub(super) async fn awaits(
        &mut self,
        launch: &Launch,
        outcome: &Outcome,
        said: Option<&PlannerSaid>,
    ) -> Result<Awaits, Error> {
        let (Role::Planner, Outcome::Completed { .. }) = (launch.role, outcome) else {
            return Ok(Awaits::Nothing);
        };
        // It is written to by whoever answers: an answer and the message that tells it are one commit.
        self.look_again().await?;
        hear(&self.engine.shared, self.task, &self.inbox, &self.canceller).await?;
        let is_open = self.journal.state.open_research().next().is_some();
        let is_plan = matches!(said, Some(PlannerSaid::Plan { response, .. }) if !response.needs_research);
        Ok(if is_open && !is_plan { Awaits::Research } else { Awaits::Nothing })
    }
}

/// One that was told to finish, and did not, was too slow.
pub fn in_time(outcome: Outcome, planner: &TaskState) -> Outcome {
    match outcome {
        Outcome::Failed(error)
            if error.error_code == ErrorCode::AnswerIncomplete
                && planner.research.must_finish(&ResearchLimits::default()) =>
        {
            let message = format!("the planner was told to finish: {}", error.message);
            Outcome::Failed(ErrorDetails::new(ErrorCode::Timeout, message))
        }
        other => other,
    }
}

/// How the run ends, once nobody is asked again. A planner is not done whose answer is no plan and no word that there is none,
/// unless there is something on its way that it goes on with.
pub fn settled(asked: Asked, outcome: Outcome, awaits: Awaits, said: Option<PlannerSaid>) -> Outcome {
    let Some(said) = said.filter(|_| awaits == Awaits::Nothing) else { return outcome };
    let why = match said {
        PlannerSaid::Unusable(problem) => problem,
        PlannerSaid::NeedsResearch(_) => "it says that it waits for research, and there is none on its way".to_owned(),
        PlannerSaid::Repeated(repeated) => return Outcome::Failed(no_other_way(repeated)),
        PlannerSaid::Plan { .. } | PlannerSaid::NoPlan(_) => return outcome,
    };
    let wanted = if asked == Asked::Correction { "no change that can be made" } else { "no plan" };
    let message = format!("the planner's answer is {wanted}: {}", shortened(why));
    Outcome::Failed(ErrorDetails::new(ErrorCode::AnswerIncomplete, message))
}

/// Who has nothing else to say has said that there is nothing else.
pub fn no_other_way(repeated: Repeated) -> ErrorDetails {
    let message = format!("the planner sees no other way: what it wrote is {repeated}");
    ErrorDetails::new(ErrorCode::AnswerIncomplete, message)
        .with_hint("ask for it in other words, or write the plan yourself and begin it with `windlass run --plan FILE`")
}

fn shortened(problem: String) -> String {
    match problem.char_indices().nth(MOST_PROBLEM_CHARS) {
        Some((end, _)) => format!("{}\n… and more", &problem[..end]),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use windlass_domain::execution::TaskMessage;
    use windlass_domain::{ExecutionId, TaskId, Wall};
    use windlass_policy::Redactor;

    use super::*;

    const PLAN: &str = "---\nid: a\ntype: task\ntitle: A\nverify: [{command: make}]\n---\n# What to do\nIt.\n";

    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([]));

    /// Anybody, and no skills.
    fn there() -> There<'static> {
        There { writes: Writes::Plan, skills: &[], patterns: &[], agents: None, redactor: &REDACTOR }
    }

    fn launch(role: Role, asked: Asked) -> Launch {
        Launch {
            execution_id: ExecutionId::new(Wall::default(), 1),
            task_id: TaskId::new(Wall::default(), 1),
            agent_id: role.as_str().to_owned(),
            role,
            asked,
            model: "rehearsal".to_owned(),
            task: TaskMessage::default(),
            patterns: Vec::new(),
        }
    }

    fn says(message: &str) -> Outcome {
        Outcome::Completed { message: message.to_owned() }
    }

    /// As it is read where nothing was planned before.
    fn read(launch: &Launch, outcome: &Outcome, there: There<'_>) -> Option<PlannerSaid> {
        match (launch.role, launch.asked, outcome) {
            (Role::Planner, Asked::Work, Outcome::Completed { message }) => Some(planner_said(message, there)),
            _ => None,
        }
    }

    fn told(role: Role, asked: Asked, message: &str) -> Option<String> {
        let (launch, outcome) = (launch(role, asked), says(message));
        let said = read(&launch, &outcome, there());
        repair(&launch, &outcome, Awaits::Nothing, (0, Said::of(said.as_ref(), None))).map(|injection| {
            assert!(injection.is_repair());
            injection.content
        })
    }

    #[test]
    fn a_planner_is_told_what_is_wrong_with_its_plan_by_line_and_column() {
        let planner = |message: &str| told(Role::Planner, Asked::Work, message);
        assert!(planner("First I look, then I write.").unwrap().contains("there is no JSON object"));
        let broken = planner(&PLAN.replace("title: A", "titel: A")).unwrap();
        assert!(broken.contains("- 4:1: unknown field `titel`; did you mean `title`?"), "{broken}");
        for good in [PLAN, r#"{"message": "It cannot be done."}"#, r#"{"needs_research": true}"#] {
            assert_eq!(planner(good), None, "{good}");
        }
    }

    /// What nobody could carry out is not put before a person.
    #[test]
    fn a_planner_is_told_whom_and_what_there_is_not() {
        let plan = PLAN.replace("title: A", "title: A\nagent: wizard\nskills: [tarot]\npattern: ritual");
        let agents = ["executor".to_owned()];
        let there = There { agents: Some(&agents), ..there() };
        let said = planner_said(&plan, there);
        let told =
            repair(&launch(Role::Planner, Asked::Work), &says(&plan), Awaits::Nothing, (0, Said::Planner(&said)));
        let told = told.unwrap().content;
        for sentence in [
            "`a` is of the pattern `ritual`, which is not there: there are none",
            "- `a` is for the agent `wizard`, which is not there: this version has `executor`",
            "- `a` names the skill `tarot`, which is not there: there are none",
        ] {
            assert!(told.contains(sentence), "{told}");
        }
    }

    #[test]
    fn a_proxy_and_a_probe_are_told_as_well_and_nobody_else() {
        assert!(told(Role::Probe, Asked::Work, "It can be done.").unwrap().contains("\"findings\""));
        assert_eq!(told(Role::Probe, Asked::Work, r#"{"feasible": true, "findings": "It is small."}"#), None);
        assert!(told(Role::Proxy, Asked::Work, "Hello.").unwrap().contains("`RouteDecision`"));
        assert_eq!(told(Role::Proxy, Asked::Work, r#"{"route": "planner"}"#), None);
        assert_eq!(told(Role::Planner, Asked::Guidance, "Look at the parser."), None, "advice is prose");
        for role in [Role::Executor, Role::Researcher, Role::Subagent, Role::Verifier] {
            assert_eq!(told(role, Asked::Work, "Done."), None, "{role:?}");
        }
    }

    #[test]
    fn it_is_asked_once_and_not_while_answers_are_on_their_way() {
        let launch = launch(Role::Planner, Asked::Work);
        let asked = |outcome: &Outcome, awaits, repairs| {
            repair(&launch, outcome, awaits, (repairs, Said::of(read(&launch, outcome, there()).as_ref(), None)))
                .is_some()
        };
        assert!(asked(&says("prose"), Awaits::Nothing, 0));
        assert!(!asked(&says("prose"), Awaits::Nothing, 1));
        assert!(!asked(&says("prose"), Awaits::Research, 0));
        assert!(!asked(&Outcome::Waiting, Awaits::Nothing, 0));
    }

    #[test]
    fn a_planner_ends_with_a_plan_or_a_word_that_there_is_none_or_a_failure() {
        let planner = launch(Role::Planner, Asked::Work);
        let ends = |launch: &Launch, message: &str, awaits| {
            let said = read(launch, &says(message), there());
            settled(Asked::Work, says(message), awaits, said)
        };
        let fails = |message: &str, awaits| match ends(&planner, message, awaits) {
            Outcome::Failed(error) => {
                assert_eq!(error.error_code, ErrorCode::AnswerIncomplete);
                Some(error.message)
            }
            _ => None,
        };
        assert_eq!(fails(PLAN, Awaits::Nothing), None);
        assert_eq!(fails(r#"{"message": "It cannot be done."}"#, Awaits::Nothing), None);
        assert!(fails("prose", Awaits::Nothing).unwrap().contains("the planner's answer is no plan"));
        assert!(fails(&PLAN.replace("id: a", "id: A"), Awaits::Nothing).unwrap().contains("2:"));
        let waits = r#"{"needs_research": true}"#;
        assert_eq!(fails(waits, Awaits::Research), None);
        assert_eq!(fails("prose", Awaits::Research), None, "it was not its last word");
        assert!(fails(waits, Awaits::Nothing).unwrap().contains("waits for research"));
        let advises = launch(Role::Planner, Asked::Guidance);
        assert_eq!(ends(&advises, "prose", Awaits::Nothing), says("prose"));
    }

    /// What planners are shown as an example is what is accepted from them.
    #[test]
    fn the_plan_in_the_planner_s_prompt_is_valid() {
        let prompt = include_str!("../../../../prompts/system/planner.md");
        let (_, rest) = prompt.split_once("````markdown\n").unwrap();
        let (example, _) = rest.split_once("````").unwrap();
        let said = planner_said(example, there());
        let PlannerSaid::Plan { written, .. } = said else { panic!("{said:?}") };
        assert_eq!(written.plan.0.all().len(), 4);
        assert!(prompt.contains("Previous approach failed after N attempts with consult. Propose an alternative"));
    }

    #[test]
    fn a_document_full_of_mistakes_is_told_in_part() {
        let fields: String = (0..2_000).map(|number| format!("field{number}: x\n")).collect();
        let said = told(Role::Planner, Asked::Work, &PLAN.replace("title: A\n", &fields)).unwrap();
        assert!(said.chars().count() < MOST_PROBLEM_CHARS + 1_000 && said.contains("… and more"), "{}", said.len());
    }
}
