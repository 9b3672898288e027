//! A tool that says as much as it is asked to, and errs when it is told to.

use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Reach, ToolSpec};
use windlass_tools::{Context, Output, Running, Tool};

pub struct Speaker {
    pub name: &'static str,
}

pub fn speakers(names: &[&'static str]) -> Vec<Box<dyn Tool>> {
    names.iter().map(|name| Box::new(Speaker { name }) as Box<dyn Tool>).collect()
}

impl Tool for Speaker {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object"});
        ToolSpec { name: self.name.to_owned(), description: "Speaks.".to_owned(), parameters }
    }

    fn prepare(&self, _: &Value, _: &Context) -> Result<Prepared, String> {
        Ok(Prepared::new(Effect::Read, Reach::Context))
    }

    /// `{"say": "text", "times": 3}`; with `"fail": true` it is an error.
    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let arguments: Value = serde_json::from_str(permit.redeem().call.arguments.get()).expect("JSON");
        let times = usize::try_from(arguments["times"].as_u64().unwrap_or(1)).expect("small");
        let text = arguments["say"].as_str().unwrap_or("nothing").repeat(times);
        let fails = arguments["fail"].as_bool() == Some(true);
        Box::pin(async move { if fails { Output::error(text) } else { Output::ok(text) } })
    }
}
