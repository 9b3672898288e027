#!/usr/bin/env python3
# GitHub Copilot's headless server, as far as Windlass speaks with it: JSON-RPC with `Content-Length`, a session and its events.
import itertools, json, os, pathlib, signal, subprocess, sys

VERSION = "1.0.102."
SESSION = None


def tell(**frame):
    body = json.dumps(dict(frame, jsonrpc="2.0"))
    sys.stdout.write(f"Content-Length: {len(body)}\r\n\r\n{body}")


def hear():
    length = int(sys.stdin.buffer.readline().split(b":")[1])
    sys.stdin.buffer.readline()
    return json.loads(sys.stdin.buffer.read(length))


def happened(number, kind, **data):
    event = {"id": f"event-{number}", "type": kind, "data": data}
    tell(method="session.event", params={"sessionId": SESSION, "event": event})


def begin():
    global SESSION
    while True:
        heard = hear()
        match heard.get("method"):
            case "ping":
                tell(id=heard["id"], result={"protocolVersion": 3, "timestamp": "t"})
            case "session.create":
                starts()
                SESSION = heard["params"]["sessionId"]
                tell(id=heard["id"], result={"sessionId": SESSION})
                happened("mcp", "session.mcp_server_status_changed", serverName="windlass", status="connected")
            case "session.send":
                tell(id=heard["id"], result={"messageId": "message-1"})
                happened("begun", "assistant.turn_start")
                sys.stdout.flush()
                return heard["params"]["prompt"]
        sys.stdout.flush()


def hear_more():
    while True:
        heard = hear()
        if heard.get("method") == "session.send":
            tell(id=heard["id"], result={"messageId": "message-2"})
            return heard["params"]["prompt"]


def say(number, text):
    happened(number, "assistant.message", content=text)


def half():
    sys.stdout.write('Content-Length: 5000\r\n\r\n{"jsonrpc":"2.0","method":"session.event","par')


def end(text):
    say("last", text)
    happened("stopped", "assistant.idle")
    happened("idle", "session.idle")


def ask(command):
    asked = {"kind": "shell", "toolCallId": "call-1", "fullCommandText": command}
    happened("asked", "permission.requested", requestId="question-1", permissionRequest=asked)
    sys.stdout.flush()
    tell(id=hear()["id"], result={})


# Whatever its command came to, a call is a success there.
def acts(command, code):
    happened("acts", "tool.execution_start", toolCallId="call-9", toolName="bash", arguments={"command": command})
    happened("acted", "tool.execution_complete", toolCallId="call-9", success=True, result={"content": "done"})


def answer():
    happened("answered", "permission.completed", requestId="question-1", result={"kind": "approve-once"})


def mumble():
    sys.stdout.write("Content-Length: 6\r\n\r\n<<v3>>")


def fail():
    happened("failed", "session.error", errorType="authentication", message="Invalid API key")
    happened("stopped", "assistant.idle")
    happened("idle", "session.idle")
