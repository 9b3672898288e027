//! A request in OpenAI's chat completions, read into our words or refused.

use serde_json::{Map, Value};

use crate::gateway::translate::compose::Composer;
use crate::gateway::translate::parts::{Content, Part};
use crate::gateway::translate::picture::Shown;
use crate::gateway::translate::told::{
    Told, Untold, free_choice, kind, limit, list, nothing_but, object, schema, temperature, text, tool, unsayable,
};

const SAID: &[&str] = &[
    "model",
    "n",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "tool_choice",
];
const LEFT: &[&str] = &[
    "user",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "verbosity",
    "seed",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "usage",
];

pub fn read(request: &Map<String, Value>) -> Result<Told, Untold> {
    nothing_but(request, SAID, LEFT)?;
    free_choice(request)?;
    let mut composer = Composer::default();
    for message in list(request, "messages")? {
        let message = object(message)?;
        let content = content_of(message.get("content").unwrap_or(&Value::Null));
        match text(message, "role")? {
            "system" | "developer" => composer.system(&content.only_text()?),
            "user" => content.each(|part| match part {
                Part::Text(text) => composer.user_text(text),
                Part::Picture(picture) => composer.user_picture(picture),
            })?,
            "assistant" => assistant(&mut composer, message, content)?,
            "tool" => {
                let (said, pictures) = content.sorted()?;
                composer.result(text(message, "tool_call_id")?, &said.join("\n"), pictures, false)?;
            }
            other => return unsayable(format!("a message of the role `{other}`")),
        }
        composer.end();
    }
    let (system, lines) = composer.finish();
    let format = request.get("response_format").and_then(Value::as_object);
    Ok(Told {
        system,
        lines,
        tools: list(request, "tools")?.iter().map(tool_of).collect::<Result<_, _>>()?,
        temperature: temperature(request),
        max_output_tokens: limit(request, "max_completion_tokens").or_else(|| limit(request, "max_tokens")),
        answer_schema: format.map(schema).transpose()?.flatten(),
        ..Told::default()
    })
}

fn tool_of(described: &Value) -> Result<windlass_domain::ToolSpec, Untold> {
    let described = object(described)?;
    match kind(described) {
        "function" => tool(object(described.get("function").unwrap_or(&Value::Null))?, "parameters"),
        other => unsayable(format!("a tool of the kind `{other}`")),
    }
}

fn assistant(composer: &mut Composer, message: &Map<String, Value>, content: Content<'_>) -> Result<(), Untold> {
    if message.get("function_call").is_some_and(|call| !call.is_null()) {
        return unsayable("`function_call`, which was given up for `tool_calls`,");
    }
    let said = content.only_text()?;
    let refusal = message.get("refusal").and_then(Value::as_str).unwrap_or_default();
    let calls = list(message, "tool_calls")?;
    for words in [said.as_str(), refusal] {
        if !words.is_empty() {
            composer.answer_text(words);
        }
    }
    if said.is_empty() && refusal.is_empty() && calls.is_empty() {
        composer.answer_text("");
    }
    for call in calls {
        let call = object(call)?;
        let Some(function) = call.get("function").and_then(Value::as_object) else {
            return unsayable(format!("a call of the kind `{}`", kind(call)));
        };
        composer.call(text(call, "id")?, text(function, "name")?, text(function, "arguments")?);
    }
    Ok(())
}

fn content_of(content: &Value) -> Content<'_> {
    Content { content, part }
}

fn part(part: &Map<String, Value>) -> Result<Part<'_>, Untold> {
    Ok(match kind(part) {
        "text" => Part::Text(text(part, "text")?),
        "refusal" => Part::Text(text(part, "refusal")?),
        "image_url" => {
            let image = object(part.get("image_url").unwrap_or(&Value::Null))?;
            Part::Picture(Shown::from_url(text(image, "url")?)?)
        }
        other => return unsayable(format!("a part of the kind `{other}`")),
    })
}
