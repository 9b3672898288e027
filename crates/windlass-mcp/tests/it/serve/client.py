"""The official client of another language, set on our server: greeting, list, calls, errors, cancelling, reconnecting, two
conversations, sixty-four calls at once, a wrong token. It says `well` at the end, and fails with a traceback otherwise.

client.py http URL TOKEN MODE, or client.py stdio PORT WRONG_PORT MODE: the latter starts itself as `client.py relay PORT`, a program that
passes its standard streams on to a socket. MODE is `legacy` (greeted) or `auto` (the newest revision first).
"""

import asyncio
import sys
import threading

if sys.argv[1] == "relay":
    import socket

    connection = socket.create_connection(("127.0.0.1", int(sys.argv[2])))

    def outward():
        for line in sys.stdin.buffer:
            connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=outward, daemon=True).start()
    while portion := connection.recv(65536):
        sys.stdout.buffer.write(portion)
        sys.stdout.buffer.flush()
    sys.exit()

import anyio
import httpx2
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

_, KIND, WHERE, SECRET, MODE = sys.argv


def transport(right=True):
    if KIND == "http":
        token = SECRET if right else "wrong"
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60)
        return streamable_http_client(WHERE, http_client=http)
    port = WHERE if right else SECRET
    return stdio_client(StdioServerParameters(command=sys.executable, args=[__file__, "relay", port]))


def client(right=True):
    return Client(transport(right), mode=MODE)


def text(result):
    return result.content[0].text


async def conversation():
    async with client() as one:
        expected = "2025-11-25" if MODE == "legacy" else "2026-07-28"
        assert one.protocol_version == expected, one.protocol_version
        assert one.server_info.name == "desk", one.server_info
        names = [tool.name for tool in (await one.list_tools()).tools]
        assert "echo" in names and "hold" in names, names
        answer = await one.call_tool("echo", {"text": "grüße\n"})
        assert answer.structured_content == {"text": "grüße\n"} and not answer.is_error, answer
        failed = await one.call_tool("fail", {})
        assert failed.is_error and "always fails" in text(failed), failed
        unfit = await one.call_tool("echo", {"text": 7})
        assert unfit.is_error and "`text` must be" in text(unfit), unfit
        try:
            await one.call_tool("nothing", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert error.code == -32602, error


async def cancelled():
    async with client() as one, client() as other:
        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()

            async def hold():
                with scope:
                    await one.call_tool("hold", {})
                    raise AssertionError("it was not taken back")

            group.start_soon(hold)
            await other.call_tool("begun", {})
            scope.cancel()
            await other.call_tool("given_up", {})
        answer = await one.call_tool("echo", {"text": "still there"})
        assert not answer.is_error


async def two():
    # Both number their calls from the same one on.
    async with client() as one, client() as other:
        results = {}

        async def hold(name, whose):
            results[name] = text(await whose.call_tool("hold", {}))

        async with anyio.create_task_group() as group:
            group.start_soon(hold, "one", one)
            group.start_soon(hold, "other", other)
            for whose in (one, other):
                await whose.call_tool("begun", {})
            for whose in (one, other):
                await whose.call_tool("let_go", {})
        assert results == {"one": "let go", "other": "let go"}, results


async def many():
    async with client() as one:
        answers = []

        async def hold():
            answers.append(text(await one.call_tool("hold", {})))

        async with anyio.create_task_group() as group:
            for _ in range(64):
                group.start_soon(hold)
            for _ in range(64):
                await one.call_tool("begun", {})
            for _ in range(64):
                await one.call_tool("let_go", {})
        assert answers == ["let go"] * 64, answers


async def wrong_token():
    try:
        async with client(right=False):
            pass
    except BaseException as error:
        def leaves(error):
            return [leaf for inner in error.exceptions for leaf in leaves(inner)] if isinstance(error, BaseExceptionGroup) else [error]

        assert any("token" in str(leaf) for leaf in leaves(error)), error
        return
    raise AssertionError("a wrong token was let in")


async def main():
    # Each with a connection of its own, so that this is reconnecting as well.
    for part in (conversation, conversation, cancelled, two, many, wrong_token):
        with anyio.fail_after(120):
            await part()
        print(part.__name__, flush=True)
    print("well", flush=True)


asyncio.run(main())
