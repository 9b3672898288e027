#!/usr/bin/env python3
# Pi's rpc mode, as far as Windlass speaks with it: lines of JSON, our hook that makes itself known, and messages with times.
import itertools, json, os, pathlib, signal, subprocess, sys

VERSION = "0.87.1"


def tell(**frame):
    sys.stdout.write(json.dumps(frame) + "\n")


def begin():
    tell(type="extension_ui_request", id="gate", method="notify", message="windlass gate")
    while True:
        heard = json.loads(sys.stdin.readline())
        match heard.get("type"):
            case "get_state":
                starts()
                session = sys.argv[sys.argv.index("--session-id") + 1]
                tell(type="response", id=heard["id"], success=True, data={"sessionId": session})
            case "prompt":
                tell(type="response", id=heard["id"], success=True)
                tell(type="agent_start")
                sys.stdout.flush()
                return heard["message"]
        sys.stdout.flush()


def hear_more():
    while True:
        heard = json.loads(sys.stdin.readline())
        if heard.get("type") == "prompt":
            tell(type="response", id=heard["id"], success=True)
            return heard["message"]


def say(number, text):
    message = {"role": "assistant", "timestamp": number, "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    tell(type="message_end", message=message)


def half():
    sys.stdout.write('{"type":"message_end","mess')


def end(text):
    say(1, text)
    tell(type="agent_settled")


def ask(command):
    asked = json.dumps({"call": "call-1", "tool": "bash", "input": {"command": command}})
    tell(type="extension_ui_request", id="question-1", method="input", title="windlass permission", placeholder=asked)
    sys.stdout.flush()
    sys.stdin.readline()


def acts(command, code):
    call = {"type": "toolCall", "id": "call-9", "name": "bash", "arguments": {"command": command}}
    tell(type="message_end", message={"role": "assistant", "timestamp": 2, "content": [call], "stopReason": "toolUse"})
    done = [{"type": "text", "text": f"done\n\nCommand exited with code {code}" if code else "done"}]
    tell(type="message_end", message={"role": "toolResult", "timestamp": 3, "toolCallId": "call-9", "isError": code != 0, "content": done})


def answer():
    tell(type="extension_ui_response", id="question-1", value="allow")


def mumble():
    sys.stdout.write("<<v3>>\n")


def fail():
    message = {"role": "assistant", "timestamp": 1, "content": [], "stopReason": "error", "errorMessage": "401 Invalid API key"}
    tell(type="message_end", message=message)
    tell(type="agent_settled")
