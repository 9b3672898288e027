//! What another agent may do here: ask for a task, watch it, answer its questions, end it. Of tasks that the owner began it sees
//! nothing unless the owner said so; approvals it may only look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use windlass_domain::plan::{AtomId, Plan};
use windlass_domain::{BoxFuture, TaskId};
use windlass_engine::{Dispatch, Driven, Error, Following, Message, NobodyWatches, Planning, Sent};
use windlass_mcp::serve::{About, CallResult, Effect, Kind, Parameter, Served, Tool};

use super::drive::explain;
use super::find::{find, find_question, whole};
use super::load::load_to_work;
use super::order::Order;
use super::patterns::gather_patterns;
use super::run::{checks, submission};
use super::standing::standing;
use super::status::as_json;
use super::wish::{Came, Wish};
use crate::arguments::McpServe;
use crate::exit::WrongUse;
use crate::show::{Narrator, headline};
use crate::stands::InWords as _;
use crate::wiring::Windlass;

const ABOUT: About = About {
    name: "windlass",
    instructions: "Windlass carries out tasks in sandboxes until their checks pass. start_task asks for one; it begins when a person has \
                   approved it, which you cannot do. Then watch it with task_status and task_log, and answer what its agent asks \
                   (list_questions, answer_question) as far as you know the answer.",
};

/// Who answers, in the records.
const BY: &str = "an MCP client";
const LONGEST_TEXT: usize = 16_000;
/// How far back tasks are looked for.
const MOST_LOOKED_AT: usize = 1_000;
const ID: Kind = Kind::Text { most: 64 };
const TASK: Parameter = Parameter::required("task", "Its id, or the end of it.", ID);

const TOOLS: &[Tool] = &[
    Tool {
        name: "start_task",
        description: "Asks for a task. A person sees it and says yes or no; nothing is done before. The answer has the task's id and \
                      the card that the person is asked by.",
        parameters: &[
            Parameter::required(
                "goal",
                "What is to be done, with all that one must know for it.",
                Kind::Text { most: LONGEST_TEXT },
            ),
            Parameter::optional(
                "checks",
                "When it is done, for a machine to see: each a check in YAML flow form, as `command: cargo test` or `file: \
                 notes.txt`. Without any, nobody can tell whether the result is right.",
                Kind::Texts { most: 20, each: 2_000 },
            ),
            Parameter::optional(
                "workspace",
                "A folder in the one that is served, by its path below that.",
                Kind::Text { most: 1_000 },
            ),
        ],
        effect: Effect::Adds,
    },
    Tool {
        name: "task_status",
        description: "How a task stands, what it waits for, and its result once it has one.",
        parameters: &[TASK],
        effect: Effect::Reads,
    },
    Tool {
        name: "list_tasks",
        description: "The tasks, newest first.",
        parameters: &[Parameter::optional(
            "limit",
            "So many at most; 20 unless said.",
            Kind::Whole { least: 1, most: 100 },
        )],
        effect: Effect::Reads,
    },
    Tool {
        name: "task_log",
        description: "The story of a task in lines of text, from a line on. To follow it, ask again from the line that comes next.",
        parameters: &[
            TASK,
            Parameter::optional("from", "The first line; 0 unless said.", Kind::Whole { least: 0, most: 1 << 40 }),
            Parameter::optional(
                "limit",
                "So many lines at most; 200 unless said.",
                Kind::Whole { least: 1, most: 1_000 },
            ),
        ],
        effect: Effect::Reads,
    },
    Tool {
        name: "list_questions",
        description: "What agents of tasks ask and nobody has answered yet.",
        parameters: &[],
        effect: Effect::Reads,
    },
    Tool {
        name: "answer_question",
        description: "Answers a question of list_questions. Only where you know the answer: otherwise leave it to a person.",
        parameters: &[
            Parameter::required("question", "Its request_id, or the end of it.", ID),
            Parameter::required("answer", "In words.", Kind::Text { most: LONGEST_TEXT }),
        ],
        effect: Effect::Adds,
    },
    Tool {
        name: "list_approvals",
        description: "What people are asked to approve and have not answered. You cannot approve: tell the person which card it is.",
        parameters: &[],
        effect: Effect::Reads,
    },
    Tool { name: "cancel_task", description: "Ends a task for good.", parameters: &[TASK], effect: Effect::Ends },
];

pub struct Desk {
    inner: Arc<Inner>,
}

struct Inner {
    windlass: Arc<Windlass>,
    arguments: McpServe,
}

impl Desk {
    pub fn new(windlass: Arc<Windlass>, arguments: McpServe) -> Self {
        Self { inner: Arc::new(Inner { windlass, arguments }) }
    }
}

impl Served for Desk {
    fn about(&self) -> About {
        ABOUT
    }

    fn tools(&self) -> Vec<Tool> {
        TOOLS.to_vec()
    }

    fn call(&self, tool: &str, arguments: Map<String, Value>) -> BoxFuture<'static, CallResult> {
        let inner = Arc::clone(&self.inner);
        let tool = tool.to_owned();
        let (sender, receiver) = oneshot::channel();
        // What was begun is done, whether or not anybody waits for it: half a task would be nobody's.
        self.inner.windlass.runtime.spawn(Box::pin(async move {
            let result = match inner.answer(&tool, &arguments).await {
                Ok(Value::Object(answer)) => CallResult::object(answer),
                Ok(answer) => CallResult::said(answer.to_string()),
                Err(error) => CallResult::failed(told(&error)),
            };
            let _nobody_waits = sender.send(result);
        }));
        Box::pin(async move {
            receiver.await.unwrap_or_else(|_| CallResult::failed("this broke off; look with task_status what there is"))
        })
    }
}

fn told(error: &anyhow::Error) -> String {
    match error.downcast_ref::<WrongUse>().and_then(|wrong| wrong.hint.as_deref()) {
        Some(hint) => format!("{error:#} (a person may: {hint})"),
        None => format!("{error:#}"),
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(arguments: &Map<String, Value>, name: &str, unless_said: usize) -> usize {
    arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or(unless_said)
}

impl Inner {
    async fn answer(&self, tool: &str, arguments: &Map<String, Value>) -> anyhow::Result<Value> {
        match tool {
            "start_task" => Box::pin(self.start(arguments)).await,
            "task_status" => self.status(self.task(arguments).await?).await,
            "list_tasks" => self.tasks(number(arguments, "limit", 20)).await,
            "task_log" => self.log(self.task(arguments).await?, arguments).await,
            "list_questions" => self.questions().await,
            "answer_question" => self.answer_question(arguments).await,
            "list_approvals" => self.approvals().await,
            "cancel_task" => Box::pin(self.cancel(self.task(arguments).await?)).await,
            _ => Err(anyhow::anyhow!("there is no tool `{tool}`")),
        }
    }

    /// One that is not to be seen is not there.
    async fn task(&self, arguments: &Map<String, Value>) -> anyhow::Result<TaskId> {
        let named = text(arguments, "task");
        let engine = &self.windlass.engine;
        let nothing = || WrongUse::new(format!("there is no task `{named}` here that you may see"));
        let task = find(engine, named).await.map_err(|_| nothing())?;
        match self.is_seen(task).await {
            Ok(true) => Ok(task),
            _ => Err(nothing().into()),
        }
    }

    async fn is_seen(&self, task: TaskId) -> anyhow::Result<bool> {
        if self.arguments.all {
            return Ok(true);
        }
        let (root, _) = whole(&self.windlass.engine, task).await?;
        Ok(self.windlass.engine.is_from_outside(root).await?)
    }

    async fn start(&self, arguments: &Map<String, Value>) -> anyhow::Result<Value> {
        let config = load_to_work().await?;
        let written: Vec<String> = arguments
            .get("checks")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|check| check.as_str().map(str::to_owned))
            .collect();
        let goal = text(arguments, "goal");
        let id = AtomId::parse("task").context("a word is an id")?;
        let mut plan = Plan::of_one(id, headline(goal), goal.to_owned());
        plan.0.verify = checks(&written)?;
        let order = self.order(self.folder(text(arguments, "workspace"))?, goal);
        let patterns = gather_patterns(&config, &order.workspace).await?;
        let submission = submission(&order, &config, Planning::Given(Box::new(plan)), &patterns)?;
        let engine = &self.windlass.engine;
        let task = engine.submit_from_outside(submission, Dispatch::Here).await.map_err(explain)?;
        // As far as it goes without a person, which is to ask one.
        match engine.drive(task, Arc::new(NobodyWatches)).await {
            Ok(Driven::Waiting(_) | Driven::Paused(_) | Driven::Finished(_))
            | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {}
            Err(error) => return Err(explain(error)),
        }
        let card = engine.asks(task).await?.into_iter().find_map(|(_, about)| about.card());
        let next = card.map_or_else(String::new, |card| {
            format!(
                "nothing is done until a person says yes: windlass approve {}; a worker then goes on with it, or windlass resume {}",
                card.short(),
                task.short()
            )
        });
        Ok(json!({"task_id": task, "card_id": card, "next": next}))
    }

    /// What the operator chose for all tasks, with this goal.
    fn order(&self, workspace: PathBuf, goal: &str) -> Order {
        let McpServe { model, rehearsal, sandbox, .. } = &self.arguments;
        let (model, rehearsal, sandbox) = (model.clone(), rehearsal.clone(), sandbox.clone());
        Order { model, rehearsal, sandbox, ..Order::new(goal, workspace) }
    }

    /// In the one that is served, wherever links lead.
    fn folder(&self, named: &str) -> anyhow::Result<PathBuf> {
        let root = self.arguments.workspace.canonicalize().context("the folder that is served is gone")?;
        if named.is_empty() {
            return Ok(root);
        }
        let outside = || WrongUse::new(format!("`{named}` is no folder in the one that is served"));
        let folder = root.join(Path::new(named)).canonicalize().map_err(|_| outside())?;
        if !folder.starts_with(&root) {
            return Err(outside().into());
        }
        Ok(folder)
    }

    async fn status(&self, task: TaskId) -> anyhow::Result<Value> {
        let state = self.windlass.engine.task(task).await.map_err(explain)?;
        let stands = standing(&self.windlass, task, &state).await?;
        let mut told = as_json(task, &state, stands);
        told["for_people"] = json!(stands.for_people());
        Ok(told)
    }

    async fn tasks(&self, most: usize) -> anyhow::Result<Value> {
        let mut tasks = Vec::new();
        for summary in self.windlass.engine.wholes(MOST_LOOKED_AT).await? {
            if tasks.len() == most {
                break;
            }
            if self.is_seen(summary.task_id).await? {
                tasks.push(self.status(summary.task_id).await?);
            }
        }
        Ok(json!({"tasks": tasks}))
    }

    async fn log(&self, task: TaskId, arguments: &Map<String, Value>) -> anyhow::Result<Value> {
        let (from, most) = (number(arguments, "from", 0), number(arguments, "limit", 200));
        let records = self.windlass.engine.news(&mut Following::task(task)).await.map_err(explain)?;
        let mut narrator = Narrator::default();
        let lines: Vec<String> =
            records.iter().flat_map(|record| narrator.tell(record)).map(|line| line.text()).collect();
        let shown: Vec<&String> = lines.iter().skip(from).take(most).collect();
        Ok(json!({"lines": shown, "next": from.min(lines.len()) + shown.len(), "total": lines.len()}))
    }

    async fn questions(&self) -> anyhow::Result<Value> {
        let mut questions = Vec::new();
        for open in self.windlass.engine.questions().await? {
            if self.is_seen(open.asked.task_id).await? {
                let mut fields = json!(open.asked.asked);
                fields["request_id"] = json!(open.asked.request_id);
                fields["task_id"] = json!(open.asked.task_id);
                fields["asked_at"] = json!(open.at.to_rfc3339());
                questions.push(fields);
            }
        }
        Ok(json!({"questions": questions}))
    }

    async fn answer_question(&self, arguments: &Map<String, Value>) -> anyhow::Result<Value> {
        let engine = &self.windlass.engine;
        let named = text(arguments, "question");
        let nothing = || WrongUse::new(format!("there is no question `{named}` here that you may answer"));
        let question = find_question(engine, named).await.map_err(|_| nothing())?;
        let state = engine.question(question).await.map_err(explain)?;
        let task = state.asked().map(|asked| asked.task_id).ok_or_else(nothing)?;
        if !self.is_seen(task).await? {
            return Err(nothing().into());
        }
        let message =
            Message { text: text(arguments, "answer").to_owned(), question: Some(question), by: BY.to_owned() };
        let sent = engine.send_from_outside(task, &message).await.map_err(explain)?;
        Ok(json!({"task_id": task, "answered": matches!(sent, Sent::Answer(_))}))
    }

    async fn approvals(&self) -> anyhow::Result<Value> {
        let mut cards = Vec::new();
        for asked in self.windlass.engine.cards().await? {
            // The card of a goal names no task of its own.
            if self.is_seen(asked.task).await.unwrap_or(self.arguments.all) {
                let mut fields = json!(asked.card);
                fields["task_id"] = json!(asked.task);
                fields["expires_at"] = json!(asked.card.expires_at.to_rfc3339());
                cards.push(fields);
            }
        }
        Ok(json!({"approvals": cards}))
    }

    async fn cancel(&self, task: TaskId) -> anyhow::Result<Value> {
        let engine = &self.windlass.engine;
        if let (root, Some(part)) = whole(engine, task).await? {
            let mistake = WrongUse::new(format!("this is {part}, and does not end alone: cancel {root}"));
            return Err(mistake.into());
        }
        engine.ask_to_cancel(task, "cancelled by an MCP client").await.map_err(explain)?;
        match Wish::Cancel.heard(&self.windlass, task).await? {
            Came::Ended(result) => Ok(json!({"task_id": task, "status": result.status})),
            Came::ToRest => Err(Wish::Cancel.too_late(task).into()),
        }
    }
}
