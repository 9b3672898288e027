//! What the model is shown. These texts are part of every prompt: a change here changes what every agent does, and breaks
//! every prompt cache.

use insta::assert_snapshot;
use windlass_tools::{Confinement, Kit, Toolset};

use crate::support::Bench;

fn shown(name: &str) -> String {
    let specs = Bench::new().tools.specs();
    let spec = specs.into_iter().find(|spec| spec.name == name).unwrap();
    format!("{}\n\n{}", spec.description, serde_json::to_string_pretty(&spec.parameters).unwrap())
}

#[test]
fn tools_come_in_the_order_of_their_names() {
    let names: Vec<String> = Bench::new().tools.specs().into_iter().map(|spec| spec.name).collect();
    let expected = "ask_user bash edit glob grep monitor publish_deliverable python_exec read save_memo search_memo spawn_agent update_plan write";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn ask_user_is_shown_as() {
    assert_snapshot!(shown("ask_user"), @r#"
    Ask the user a question. Use when you need:
    - Clarification about ambiguous requirements
    - Approval before a high-impact action
    - A choice between multiple approaches
    - Information only the user can provide

    This will pause execution until the user responds.

    {
      "properties": {
        "context": {
          "description": "Brief context for why you are asking",
          "type": "string"
        },
        "options": {
          "description": "Suggested options (optional)",
          "items": {
            "type": "string"
          },
          "type": "array"
        },
        "question": {
          "type": "string"
        }
      },
      "required": [
        "question"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn bash_is_shown_as() {
    assert_snapshot!(shown("bash"), @r#"
    Run a shell command in the sandbox: /workspace is writable, there is no network and no standard input. The result has the exit code and the output, standard error included. Everything the command starts ends with it, background processes too.

    {
      "additionalProperties": false,
      "properties": {
        "command": {
          "description": "Run as bash -c",
          "minLength": 1,
          "type": "string"
        },
        "cwd": {
          "description": "The folder to run in; /workspace by default",
          "type": "string"
        },
        "timeout_seconds": {
          "description": "The command is killed after this; 120 by default",
          "maximum": 3600,
          "minimum": 1,
          "type": "integer"
        }
      },
      "required": [
        "command"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn without_a_sandbox_bash_does_not_promise_one() {
    let bench = Bench::new();
    let tools = bench.unconfined();
    let spec = tools.specs().into_iter().find(|spec| spec.name == "bash").unwrap();
    assert_snapshot!(spec.description, @"Run a shell command on the operator's machine, without a sandbox: it starts in the workspace, where relative paths lead (there is no /workspace for it), and there is no standard input. It can reach whatever the operator can: stay in the workspace. The result has the exit code and the output, standard error included. Everything the command starts ends with it, background processes too.");
    assert_eq!((tools.confinement(), bench.tools.confinement()), (Confinement::Nothing, Confinement::Sealed));
    let python = tools.specs().into_iter().find(|spec| spec.name == "python_exec").unwrap();
    assert_snapshot!(python.description, @"Run a Python script with python3 on the operator's machine, without a sandbox: stay in the workspace. It starts in the workspace and has no standard input; the result has the exit code and the output, standard error included.");
    let starts_programs = |name: &str| ["bash", "python_exec"].contains(&name);
    let others =
        |tools: &Toolset| tools.specs().into_iter().filter(|spec| !starts_programs(&spec.name)).collect::<Vec<_>>();
    assert_eq!(others(&tools), others(&bench.tools));
}

#[test]
fn edit_is_shown_as() {
    assert_snapshot!(shown("edit"), @r#"
    Replace text in a file. old_string must match the file exactly, white space included, without the line numbers that read shows, and must occur exactly once unless replace_all is true.

    {
      "additionalProperties": false,
      "properties": {
        "new_string": {
          "description": "What to put in its place",
          "type": "string"
        },
        "old_string": {
          "description": "The text to replace",
          "minLength": 1,
          "type": "string"
        },
        "path": {
          "description": "Relative to /workspace, or absolute below it",
          "minLength": 1,
          "type": "string"
        },
        "replace_all": {
          "default": false,
          "description": "Replace every occurrence",
          "type": "boolean"
        }
      },
      "required": [
        "path",
        "old_string",
        "new_string"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn glob_is_shown_as() {
    assert_snapshot!(shown("glob"), @r#"
    Find files by path pattern, such as src/**/*.rs or *.{ts,tsx}. A pattern without a slash matches names at any depth. Files ignored by .gitignore are passed over unless path names their folder.

    {
      "additionalProperties": false,
      "properties": {
        "path": {
          "description": "The folder to search; /workspace by default",
          "type": "string"
        },
        "pattern": {
          "description": "Relative to path",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "pattern"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn grep_is_shown_as() {
    assert_snapshot!(shown("grep"), @r#"
    Search file contents by regular expression (Rust syntax, as in ripgrep). Matches are shown as path:line:text. Files ignored by .gitignore and binary files are passed over, unless path names an ignored file or folder.

    {
      "additionalProperties": false,
      "properties": {
        "case_insensitive": {
          "default": false,
          "type": "boolean"
        },
        "context": {
          "description": "Lines to show before and after each match; 0 by default",
          "maximum": 20,
          "minimum": 0,
          "type": "integer"
        },
        "glob": {
          "description": "Only files whose path matches, such as *.rs",
          "type": "string"
        },
        "max_results": {
          "description": "Matching lines or files to show; 100 by default",
          "maximum": 2000,
          "minimum": 1,
          "type": "integer"
        },
        "output_mode": {
          "default": "content",
          "description": "Matching lines, only the paths, or the number of matching lines in each file",
          "enum": [
            "content",
            "files",
            "count"
          ],
          "type": "string"
        },
        "path": {
          "description": "A file or folder; /workspace by default",
          "type": "string"
        },
        "pattern": {
          "description": "The regular expression",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "pattern"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn publish_deliverable_is_shown_as() {
    assert_snapshot!(shown("publish_deliverable"), @r#"
    Mark a file in your workspace as a deliverable for the user.
    Call this when you have completed a piece of work that the user should review.
    Deliverables are packaged in the final result.

    {
      "properties": {
        "description": {
          "description": "What this deliverable is",
          "type": "string"
        },
        "filepath": {
          "description": "Path relative to /workspace/ (e.g., \"output/report.md\")",
          "type": "string"
        },
        "type": {
          "enum": [
            "report",
            "code",
            "data",
            "screenshot",
            "other"
          ],
          "type": "string"
        }
      },
      "required": [
        "filepath",
        "description",
        "type"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn read_is_shown_as() {
    assert_snapshot!(shown("read"), @r#"
    Read a text file, with line numbers. Long files come in pages: the end of a page says which offset to continue with. A folder is answered with the names in it, an image (PNG, JPEG, GIF, WebP) by showing it.

    {
      "additionalProperties": false,
      "properties": {
        "limit": {
          "description": "How many lines; 2000 by default",
          "minimum": 1,
          "type": "integer"
        },
        "offset": {
          "description": "The first line to read; 1 by default",
          "minimum": 1,
          "type": "integer"
        },
        "path": {
          "description": "Relative to /workspace, or absolute below it",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "path"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn spawn_agent_is_shown_as() {
    assert_snapshot!(shown("spawn_agent"), @r#"
    Spawn an independent sub-agent to work on a specific task.
    Use for context isolation: the sub-agent gets a fresh context window and works independently.
    Good for:
    - Long research tasks that would fill your context
    - Parallel independent work streams
    - Tasks that need deep focus without cluttering your context

    The sub-agent shares your workspace filesystem.
    Results are returned as text when the sub-agent completes.

    {
      "properties": {
        "label": {
          "description": "Short label for tracking (e.g., \"research-pricing\")",
          "type": "string"
        },
        "task": {
          "description": "Clear task description for the sub-agent",
          "type": "string"
        },
        "timeout_seconds": {
          "default": 300,
          "description": "Timeout in seconds",
          "minimum": 1,
          "type": "integer"
        },
        "write_output_to": {
          "description": "File path in workspace to write results (optional)",
          "type": "string"
        }
      },
      "required": [
        "task"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn update_plan_is_shown_as() {
    assert_snapshot!(shown("update_plan"), @r#"
    Update your current execution plan. Call this tool:
    - At the start of a task to create your initial plan
    - After completing a step to mark progress
    - When you discover new information that changes the approach
    - Before spawning sub-agents to clarify task division

    The plan helps you stay on track over long execution horizons.

    {
      "properties": {
        "current_focus": {
          "description": "What you are working on right now",
          "type": "string"
        },
        "overall_approach": {
          "description": "High-level approach summary",
          "type": "string"
        },
        "steps": {
          "items": {
            "properties": {
              "description": {
                "type": "string"
              },
              "id": {
                "type": "string"
              },
              "notes": {
                "description": "Optional notes, findings, or blockers",
                "type": "string"
              },
              "status": {
                "enum": [
                  "pending",
                  "in_progress",
                  "done",
                  "blocked",
                  "skipped"
                ],
                "type": "string"
              }
            },
            "required": [
              "id",
              "description",
              "status"
            ],
            "type": "object"
          },
          "type": "array"
        }
      },
      "required": [
        "steps"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn write_is_shown_as() {
    assert_snapshot!(shown("write"), @r#"
    Create a file, or replace all of an existing one. Missing folders are created. To change a part of a file use edit.

    {
      "additionalProperties": false,
      "properties": {
        "content": {
          "description": "The whole content of the file",
          "type": "string"
        },
        "path": {
          "description": "Relative to /workspace, or absolute below it",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "path",
        "content"
      ],
      "type": "object"
    }
    "#);
}

/// The tools of the roles that only look.
fn shown_to(kit: Kit, name: &str) -> String {
    let specs = Toolset::new(Bench::new().context(), kit).specs();
    let spec = specs.into_iter().find(|spec| spec.name == name).unwrap();
    format!("{}\n\n{}", spec.description, serde_json::to_string_pretty(&spec.parameters).unwrap())
}

#[test]
fn python_exec_is_shown_as() {
    assert_snapshot!(shown("python_exec"), @r#"
    Run a Python script with python3 in the sandbox, without network. It starts in the workspace and has no standard input; the result has the exit code and the output, standard error included.

    {
      "additionalProperties": false,
      "properties": {
        "script": {
          "description": "The script itself, not a path",
          "minLength": 1,
          "type": "string"
        },
        "timeout_seconds": {
          "description": "The script is killed after this; 120 by default",
          "maximum": 3600,
          "minimum": 1,
          "type": "integer"
        }
      },
      "required": [
        "script"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn request_research_is_shown_as() {
    assert_snapshot!(shown_to(Kit::planner(), "request_research"), @r#"
    Let somebody find something out. It does not block: the answer arrives as a later message. When there is nothing else to do meanwhile, end your turn with `needs_research: true`.

    {
      "additionalProperties": false,
      "properties": {
        "max_tokens": {
          "default": 500,
          "description": "The answer is cut after this",
          "maximum": 4000,
          "minimum": 1,
          "type": "integer"
        },
        "return_format": {
          "description": "The form of the answer, such as \"yes/no + 1 line\"",
          "minLength": 1,
          "type": "string"
        },
        "task": {
          "description": "One narrow question",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "task",
        "return_format"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn validate_plan_is_shown_as() {
    assert_snapshot!(shown_to(Kit::planner(), "validate_plan"), @r#"
    Read a plan document as the runtime will read it. The result says what it holds, or every problem with its line and column.

    {
      "additionalProperties": false,
      "properties": {
        "plan_markdown": {
          "description": "The whole document",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "plan_markdown"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn tell_user_is_shown_as() {
    assert_snapshot!(shown_to(Kit::proxy(), "tell_user"), @r#"
    Show the user a message now, before your answer is ready. Use it for a short word on what you are doing; it asks nothing and nobody answers.

    {
      "additionalProperties": false,
      "properties": {
        "message": {
          "description": "What to say",
          "minLength": 1,
          "type": "string"
        }
      },
      "required": [
        "message"
      ],
      "type": "object"
    }
    "#);
}

#[test]
fn context_inspect_is_shown_as() {
    assert_snapshot!(shown_to(Kit::proxy(), "context_inspect"), @r#"
    Look at what your own context holds: how long it is, the plan, open questions, files, errors.

    {
      "additionalProperties": false,
      "properties": {
        "zone": {
          "description": "One part of it; without, all in short",
          "enum": [
            "messages",
            "plan",
            "questions",
            "files",
            "errors"
          ],
          "type": "string"
        }
      },
      "type": "object"
    }
    "#);
}
