"""A client that knows seed 000 and Redis, and nothing of Windlass: command in, question out, answer in, result out."""

import json
import sys
import uuid

import redis

link = redis.Redis(unix_socket_path=sys.argv[1], decode_responses=True)
heard = {"hitl-request-command": "0", "task-result": "0", "user-message-command": "0"}


def put(stream, entry):
    link.xadd(stream, {"json": json.dumps(entry)})


def wait_for(stream, is_meant):
    while True:
        for _, entries in link.xread({stream: heard[stream]}, block=60_000) or sys.exit(f"nothing came on {stream}"):
            for entry_id, fields in entries:
                heard[stream] = entry_id
                entry = json.loads(fields["json"])
                if is_meant(entry):
                    return entry


session_id, task_id, command_id = "shop", "choose-a-database", str(uuid.uuid4())
put("task-command", {
    "command_id": command_id,
    "session_id": session_id,
    "task_id": task_id,
    "goal": "Find out which database is wanted",
    "constraints": ["ask before you decide"],
    "execution_config": {"timeout_seconds": 300, "max_iterations": 50, "model": "gpt-4o", "compaction": {}},
})

asked = wait_for("hitl-request-command", lambda entry: entry["task_id"] == task_id)
assert asked["question"] == "Which database?", asked
assert asked["options"] == ["PostgreSQL", "SQLite"], asked
assert asked["session_id"] == session_id, asked

blocked = wait_for("task-result", lambda entry: entry["task_id"] == task_id)
assert blocked["status"] == "BLOCKED_USER", blocked
assert blocked["hitl_request"]["request_id"] == asked["request_id"], blocked
assert link.get(f"task:status:{task_id}") == "running"

put("hitl-response-received", {
    "session_id": session_id,
    "task_id": task_id,
    "request_id": asked["request_id"],
    "response": "SQLite",
})

result = wait_for("task-result", lambda entry: entry["task_id"] == task_id and entry["status"] != "BLOCKED_USER")
assert result["status"] == "COMPLETED", result
assert (result["session_id"], result["command_id"]) == (session_id, command_id), result
assert result["final_message"] == "Done.", result
assert result["usage"]["iterations"] == 3, result
assert link.get(f"task:status:{task_id}") is None

# Another task, and its user answers in the session, without naming it.
other_id = "2f6e3a9c-5d0b-4c1e-9a7f-1b2c3d4e5f60"
put("task-command", {
    "command_id": str(uuid.uuid4()),
    "session_id": session_id,
    "task_id": other_id,
    "goal": "Find out which database is wanted",
    "execution_config": {"timeout_seconds": 300, "max_iterations": 50, "model": "gpt-4o", "compaction": {}},
})
wait_for("hitl-request-command", lambda entry: entry["task_id"] == other_id)
put("user-message-received", {"session_id": session_id, "message": "SQLite"})
answered = wait_for("user-message-command", lambda entry: entry["session_id"] == session_id)
assert (answered["type"], answered["message"]) == ("answer", "I pass it on."), answered
result = wait_for("task-result", lambda entry: entry["task_id"] == other_id and entry["status"] != "BLOCKED_USER")
assert result["status"] == "COMPLETED", result
print("a whole conversation")
