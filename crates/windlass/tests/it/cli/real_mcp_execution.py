"""The official client against the endpoint of the very execution that it runs in, as an agent would: it tells, asks and reads. It says `well`
at the end.

real_mcp_execution.py URL TOKEN MODE
"""

import asyncio
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

_, URL, TOKEN, MODE = sys.argv


async def main():
    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
    async with Client(streamable_http_client(URL, http_client=http), mode=MODE) as client:
        assert client.server_info.name == "windlass", client.server_info
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"progress", "note", "needs_input", "completed_claim", "search_memo"} <= names, names
        assert not any("approve" in name or "start" in name for name in names), names
        told = await client.call_tool("progress", {"summary": f"half of it, by {MODE}"})
        assert not told.is_error and "Recorded" in told.content[0].text, told
        unfit = await client.call_tool("progress", {"summary": 7})
        assert unfit.is_error, unfit
        found = await client.call_tool("search_memo", {"query": "nothing"})
        assert not found.is_error, found
        try:
            await client.call_tool("approve", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert error.code == -32602, error
    print("well")


asyncio.run(main())
