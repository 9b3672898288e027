//! A request in Anthropic's messages, read into our words or refused.

use serde_json::{Map, Value};

use crate::gateway::translate::compose::Composer;
use crate::gateway::translate::picture::Shown;
use crate::gateway::translate::told::{
    Told, Untold, free_choice, kind, limit, list, malformed, nothing_but, object, schema, temperature, text, tool,
    unsayable,
};

const SAID: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "stream",
    "max_tokens",
    "temperature",
    "tool_choice",
    "output_config",
    "output_format",
];
const LEFT: &[&str] = &["metadata", "thinking", "context_management", "betas", "cache_control", "top_p", "top_k"];

pub fn read(request: &Map<String, Value>) -> Result<Told, Untold> {
    nothing_but(request, SAID, LEFT)?;
    free_choice(request)?;
    let mut composer = Composer::default();
    match request.get("system") {
        None | Some(Value::Null) => {}
        Some(said) => each_text(said, |text| composer.system(text))?,
    }
    for message in list(request, "messages")? {
        let message = object(message)?;
        match text(message, "role")? {
            "user" => user(&mut composer, message.get("content").unwrap_or(&Value::Null))?,
            "assistant" => assistant(&mut composer, message.get("content").unwrap_or(&Value::Null))?,
            "system" => each_text(message.get("content").unwrap_or(&Value::Null), |text| composer.system(text))?,
            other => return malformed(format!("there is no role `{other}`")),
        }
        composer.end();
    }
    let (system, lines) = composer.finish();
    let format =
        request.get("output_config").and_then(|config| config.get("format")).or_else(|| request.get("output_format"));
    Ok(Told {
        system,
        lines,
        tools: list(request, "tools")?.iter().map(tool_of).collect::<Result<_, _>>()?,
        temperature: temperature(request),
        max_output_tokens: limit(request, "max_tokens"),
        answer_schema: format.and_then(Value::as_object).map(schema).transpose()?.flatten(),
        ..Told::default()
    })
}

fn tool_of(described: &Value) -> Result<windlass_domain::ToolSpec, Untold> {
    let described = object(described)?;
    match kind(described) {
        "" | "custom" if described.get("defer_loading") == Some(&Value::Bool(true)) => {
            unsayable("a tool whose definition comes later (for Claude Code: set ENABLE_TOOL_SEARCH=false)")
        }
        "" | "custom" => tool(described, "input_schema"),
        other => unsayable(format!("the tool `{other}`, which belongs to one provider,")),
    }
}

/// Text, or blocks of nothing but text.
fn each_text(content: &Value, mut take: impl FnMut(&str)) -> Result<(), Untold> {
    match content {
        Value::String(text) => take(text),
        Value::Array(blocks) => {
            for block in blocks {
                let block = object(block)?;
                match kind(block) {
                    "text" => take(text(block, "text")?),
                    other => return unsayable(format!("a block of the kind `{other}` in a system prompt")),
                }
            }
        }
        _ => return malformed("there is a message without content"),
    }
    Ok(())
}

fn user(composer: &mut Composer, content: &Value) -> Result<(), Untold> {
    let blocks = match content {
        Value::String(text) => {
            composer.user_text(text);
            return Ok(());
        }
        Value::Array(blocks) => blocks,
        _ => return malformed("there is a message without content"),
    };
    for block in blocks {
        let block = object(block)?;
        match kind(block) {
            "text" => composer.user_text(text(block, "text")?),
            "image" => composer.user_picture(picture(block)?),
            "tool_result" => {
                let (said, pictures) = result(block.get("content").unwrap_or(&Value::Null))?;
                let is_error = block.get("is_error") == Some(&Value::Bool(true));
                composer.result(text(block, "tool_use_id")?, &said, pictures, is_error)?;
            }
            other => return unsayable(format!("a block of the kind `{other}`")),
        }
    }
    Ok(())
}

fn result(content: &Value) -> Result<(String, Vec<Shown>), Untold> {
    let blocks = match content {
        Value::Null => return Ok((String::new(), Vec::new())),
        Value::String(text) => return Ok((text.clone(), Vec::new())),
        Value::Array(blocks) => blocks,
        _ => return malformed("there is a result without content"),
    };
    let (mut said, mut pictures) = (Vec::new(), Vec::new());
    for block in blocks {
        let block = object(block)?;
        match kind(block) {
            "text" => said.push(text(block, "text")?),
            "image" => pictures.push(picture(block)?),
            other => return unsayable(format!("a result with a block of the kind `{other}`")),
        }
    }
    Ok((said.join("\n"), pictures))
}

fn picture(block: &Map<String, Value>) -> Result<Shown, Untold> {
    let source = object(block.get("source").unwrap_or(&Value::Null))?;
    match kind(source) {
        "base64" => Shown::from_base64(text(source, "data")?),
        _ => unsayable("a picture that is not in the request itself"),
    }
}

fn assistant(composer: &mut Composer, content: &Value) -> Result<(), Untold> {
    let blocks = match content {
        Value::String(text) => {
            composer.answer_text(text);
            return Ok(());
        }
        Value::Array(blocks) => blocks,
        _ => return malformed("there is a message without content"),
    };
    for block in blocks {
        let block = object(block)?;
        match kind(block) {
            "text" => composer.answer_text(text(block, "text")?),
            "tool_use" => {
                let input =
                    block.get("input").filter(|input| !input.is_null()).map_or("{}".to_owned(), Value::to_string);
                composer.call(text(block, "id")?, text(block, "name")?, &input);
            }
            "thinking" | "redacted_thinking" => {}
            other => return unsayable(format!("a block of the kind `{other}`")),
        }
    }
    Ok(())
}
