"""The official client asks `windlass mcp serve`, which it starts itself, for a task. It says `well` at the end.

real_mcp.py WINDLASS SCRIPT MODE, with the environment that the server is to have.
"""

import asyncio
import os
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

_, WINDLASS, SCRIPT, MODE = sys.argv


async def main():
    server = StdioServerParameters(command=WINDLASS, args=["mcp", "serve", "--rehearsal", SCRIPT], env=dict(os.environ))
    async with Client(stdio_client(server), mode=MODE) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "start_task" in names and not any("approve" in name for name in names), names
        begun = await client.call_tool("start_task", {"goal": "Find the word", "checks": ["file: done.txt"]})
        assert not begun.is_error, begun
        task = begun.structured_content["task_id"]
        status = await client.call_tool("task_status", {"task": task})
        assert status.structured_content["standing"] == "waiting", status
        cards = await client.call_tool("list_approvals", {})
        assert cards.structured_content["approvals"][0]["card_id"] == begun.structured_content["card_id"], cards
        ended = await client.call_tool("cancel_task", {"task": task})
        assert ended.structured_content["status"] == "CANCELLED", ended
        again = await client.call_tool("cancel_task", {"task": "nothing"})
        assert again.is_error, again
    print("well")


asyncio.run(main())
