"""For Schemathesis: what there is on the server that is tried, so that routes by id have something to find. Each parameter by which something
is named becomes one of the ids that are known, or anything else. What happens elsewhere is signed as its source signs, whatever it is."""

import hashlib
import hmac
import json
import os
import time
import urllib.request

import schemathesis

URL = os.environ["WINDLASS_URL"]
TOKEN = os.environ["WINDLASS_TOKEN"]


def ask(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def known():
    tasks = [task["task_id"] for task in ask("/v1/tasks")["tasks"]]
    under = lambda what: [thing for task in tasks for thing in ask(f"/v1/tasks/{task}/{what}")[what]]
    return {
        "task": tasks,
        "execution": [execution["execution_id"] for execution in under("executions")],
        "digest": [deliverable["digest"] for deliverable in under("deliverables")],
        "session": [session["session_id"] for session in ask("/v1/sessions")["sessions"]],
        "card": [approval["card"]["card_id"] for approval in ask("/v1/approvals")["approvals"]],
        "question": [question["request_id"] for question in ask("/v1/questions")["questions"]],
        "goal": [goal["goal"] for goal in ask("/v1/schedules")["schedules"] if goal["type"] == "goal"],
        "source": ["ci"],
    }


@schemathesis.hook
def before_load_schema(context, raw_schema):
    found = known()
    missing = [name for name, ids in found.items() if not ids]
    assert not missing, f"the server holds no {', '.join(missing)}"
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] in ("path", "query") and parameter["name"] in found:
                    parameter["schema"] = {"anyOf": [{"enum": found[parameter["name"]]}, parameter["schema"]]}


def signed(request):
    """By the bytes that are sent: nobody knows them before."""
    body = request.body or b""
    body = body.encode() if isinstance(body, str) else body
    now = str(int(time.time()))
    signature = hmac.new(os.environ["CI_KEY"].encode(), now.encode() + b"." + body, hashlib.sha256)
    request.headers["X-Windlass-Timestamp"] = now
    request.headers["X-Windlass-Signature"] = "sha256=" + signature.hexdigest()
    return request


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.definition.raw.get("operationId") == "tell_event":
        kwargs["auth"] = signed
