//! A request in OpenAI's responses, read into our words or refused. Tools in folders (`namespace`) are told under one name each,
//! and called by both again.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use windlass_domain::ToolSpec;

use crate::dialect::flat;
use crate::gateway::translate::compose::Composer;
use crate::gateway::translate::parts::{Content, Part};
use crate::gateway::translate::picture::Shown;
use crate::gateway::translate::told::{
    Told, Untold, free_choice, kind, limit, list, nothing_but, object, schema, temperature, text, tool, unsayable,
};

const SAID: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "stream",
    "stream_options",
    "temperature",
    "max_output_tokens",
    "text",
    "tool_choice",
];
const LEFT: &[&str] = &[
    "include",
    "reasoning",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "metadata",
    "user",
    "safety_identifier",
    "client_metadata",
    "truncation",
    "top_p",
];

pub fn read(request: &Map<String, Value>) -> Result<Told, Untold> {
    nothing_but(request, SAID, LEFT)?;
    free_choice(request)?;
    let mut composer = Composer::default();
    if let Some(instructions) = request.get("instructions").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        composer.system(instructions);
    }
    match request.get("input") {
        Some(Value::String(text)) => composer.user_text(text),
        _ => {
            for item in list(request, "input")? {
                take(&mut composer, object(item)?)?;
            }
        }
    }
    let (system, lines) = composer.finish();
    let (tools, folders) = tools(list(request, "tools")?)?;
    let format = request.get("text").and_then(|text| text.get("format")).and_then(Value::as_object);
    Ok(Told {
        system,
        lines,
        tools,
        folders,
        temperature: temperature(request),
        max_output_tokens: limit(request, "max_output_tokens"),
        answer_schema: format.map(schema).transpose()?.flatten(),
    })
}

fn take(composer: &mut Composer, item: &Map<String, Value>) -> Result<(), Untold> {
    match kind(item) {
        "" | "message" => message(composer, item),
        "function_call" => {
            let name = match item.get("namespace").and_then(Value::as_str) {
                Some(folder) => flat(folder, text(item, "name")?),
                None => text(item, "name")?.to_owned(),
            };
            composer.call(text(item, "call_id")?, &name, text(item, "arguments")?);
            Ok(())
        }
        "function_call_output" => {
            let (said, pictures) = content_of(item.get("output").unwrap_or(&Value::Null)).sorted()?;
            composer.result(text(item, "call_id")?, &said.join("\n"), pictures, false)
        }
        "reasoning" => Ok(()),
        other => unsayable(format!("an item of the kind `{other}`")),
    }
}

fn message(composer: &mut Composer, item: &Map<String, Value>) -> Result<(), Untold> {
    let content = content_of(item.get("content").unwrap_or(&Value::Null));
    match text(item, "role")? {
        "system" | "developer" => composer.system(&content.only_text()?),
        "assistant" => composer.answer_text(&content.only_text()?),
        "user" => {
            content.each(|part| match part {
                Part::Text(text) => composer.user_text(text),
                Part::Picture(picture) => composer.user_picture(picture),
            })?;
            composer.end();
        }
        other => return unsayable(format!("a message of the role `{other}`")),
    }
    Ok(())
}

fn content_of(content: &Value) -> Content<'_> {
    Content { content, part }
}

fn part(part: &Map<String, Value>) -> Result<Part<'_>, Untold> {
    Ok(match kind(part) {
        "input_text" | "output_text" | "text" => Part::Text(text(part, "text")?),
        "refusal" => Part::Text(text(part, "refusal")?),
        "input_image" => Part::Picture(Shown::from_url(text(part, "image_url")?)?),
        other => return unsayable(format!("a part of the kind `{other}`")),
    })
}

type Folders = BTreeMap<String, (String, String)>;

fn tools(described: &[Value]) -> Result<(Vec<ToolSpec>, Folders), Untold> {
    let (mut tools, mut folders) = (Vec::new(), Folders::new());
    for described in described {
        let described = object(described)?;
        match kind(described) {
            "function" => tools.push(tool(described, "parameters")?),
            "namespace" => {
                let folder = text(described, "name")?;
                for inside in list(described, "tools")? {
                    let inside = object(inside)?;
                    if kind(inside) != "function" {
                        return unsayable(format!("a tool of the kind `{}`", kind(inside)));
                    }
                    let ToolSpec { name, description, parameters } = tool(inside, "parameters")?;
                    let flat = flat(folder, &name);
                    folders.insert(flat.clone(), (folder.to_owned(), name));
                    tools.push(ToolSpec { name: flat, description, parameters });
                }
            }
            "web_search" => return unsayable("`web_search` (for Codex: set web_search = \"disabled\")"),
            other => return unsayable(format!("a tool of the kind `{other}`")),
        }
    }
    let mut names = tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => unsayable(format!("two tools by the one name `{}`", pair[0])),
        None => Ok((tools, folders)),
    }
}
