#!/usr/bin/env python3
# OpenCode's server of the Agent Client Protocol, as far as Windlass speaks with it: JSON-RPC in lines, and a prompt that is answered last.
import itertools, json, os, pathlib, signal, subprocess, sys

VERSION = "1.18.33"
SESSION = "ses_1"
PROMPT = None


def tell(**frame):
    sys.stdout.write(json.dumps(dict(frame, jsonrpc="2.0")) + "\n")


def begin():
    global PROMPT
    while True:
        heard = json.loads(sys.stdin.readline())
        match heard.get("method"):
            case "initialize":
                able = {"loadSession": True, "mcpCapabilities": {"http": True}}
                tell(id=heard["id"], result={"protocolVersion": 1, "agentCapabilities": able})
            case "session/new":
                starts()
                tell(id=heard["id"], result={"sessionId": SESSION})
            case "session/prompt":
                PROMPT = heard["id"]
                return heard["params"]["prompt"][0]["text"]
        sys.stdout.flush()


def hear_more():
    global PROMPT
    while True:
        heard = json.loads(sys.stdin.readline())
        if heard.get("method") == "session/prompt":
            tell(id=PROMPT, result={"stopReason": "end_turn"})
            PROMPT = heard["id"]
            return heard["params"]["prompt"][0]["text"]


def say(number, text):
    update = {"sessionUpdate": "agent_message_chunk", "messageId": f"msg-{number}", "content": {"type": "text", "text": text}}
    tell(method="session/update", params={"sessionId": SESSION, "update": update})


def half():
    sys.stdout.write('{"jsonrpc":"2.0","method":"session/update","par')


def end(text):
    say("last", text)
    tell(id=PROMPT, result={"stopReason": "end_turn"})


def ask(command):
    call = {"toolCallId": "call-1", "kind": "execute", "status": "in_progress", "rawInput": {"command": command}}
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    tell(id=70, method="session/request_permission", params={"sessionId": SESSION, "toolCall": call, "options": options})
    sys.stdout.flush()
    sys.stdin.readline()


# Whatever its command came to, a call is a success there.
def acts(command, code):
    call = {"toolCallId": "call-9", "kind": "execute", "title": "bash", "rawInput": {"command": command}}
    for step in ({"sessionUpdate": "tool_call", "status": "in_progress"}, {"sessionUpdate": "tool_call_update", "status": "completed"}):
        tell(method="session/update", params={"sessionId": SESSION, "update": dict(call, **step)})


def answer():
    tell(id=70, result={"outcome": {"outcome": "selected", "optionId": "yes"}})


def mumble():
    sys.stdout.write("<<v3>>\n")


def fail():
    tell(id=PROMPT, error={"code": -32000, "message": "Invalid API key"})
