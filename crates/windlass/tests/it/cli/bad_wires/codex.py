#!/usr/bin/env python3
# Codex's app-server, as far as Windlass speaks with it: JSON-RPC in lines, a thread, a turn and items in it.
import itertools, json, os, pathlib, signal, subprocess, sys

VERSION = "codex-cli 0.166.0"
THREAD, TURN = "thread-1", "turn-1"


def tell(**frame):
    sys.stdout.write(json.dumps(frame) + "\n")


def told(method, **params):
    tell(method=method, params=dict(params, threadId=THREAD))


def begin():
    while True:
        heard = json.loads(sys.stdin.readline())
        match heard.get("method"):
            case "initialize":
                tell(id=heard["id"], result={"userAgent": "windlass/0.166.0"})
            case "thread/start":
                starts()
                tell(id=heard["id"], result={"thread": {"id": THREAD}, "approvalPolicy": "untrusted"})
                tell(method="mcpServer/startupStatus/updated", params={"name": "windlass", "status": "ready"})
            case "turn/start":
                tell(id=heard["id"], result={"turn": {"id": TURN, "status": "inProgress"}})
                told("turn/started", turn={"id": TURN, "status": "inProgress"})
                sys.stdout.flush()
                return heard["params"]["input"][0]["text"]
        sys.stdout.flush()


def hear_more():
    while True:
        heard = json.loads(sys.stdin.readline())
        if heard.get("method") == "turn/steer":
            tell(id=heard["id"], result={"turnId": TURN})
            return heard["params"]["input"][0]["text"]


def say(number, text):
    told("item/completed", turnId=TURN, item={"type": "agentMessage", "id": f"item-{number}", "text": text})


def half():
    sys.stdout.write('{"method":"item/completed","params":{"thr')


def end(text):
    say("last", text)
    told("turn/completed", turn={"id": TURN, "status": "completed"})


def ask(command):
    asked = {"threadId": THREAD, "turnId": TURN, "itemId": "item-1", "command": command, "cwd": os.getcwd()}
    tell(id=70, method="item/commandExecution/requestApproval", params=asked)
    sys.stdout.flush()
    sys.stdin.readline()


def acts(command, code):
    item = {"type": "commandExecution", "id": "item-9", "command": command, "cwd": os.getcwd()}
    told("item/started", turnId=TURN, item=item)
    told("item/completed", turnId=TURN, item=dict(item, status="failed" if code else "completed", exitCode=code, aggregatedOutput="done"))


def answer():
    tell(id=70, result={"decision": "accept"})


def mumble():
    sys.stdout.write("<<v3>>\n")


def fail():
    error = {"message": "Invalid API key", "codexErrorInfo": "unauthorized"}
    told("turn/completed", turn={"id": TURN, "status": "failed", "error": error})
