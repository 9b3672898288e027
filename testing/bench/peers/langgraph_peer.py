"""LangGraph: LangChain's `create_agent` on OpenAI's client; durable with its SQLite checkpointer, synced at each step."""

import os

import aiosqlite
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from harness import SCRATCH, SERVER, called, main, model


@tool
def noop() -> str:
    "Does nothing."
    return called()


async def make(steps, latency, durable):
    chat = ChatOpenAI(model=model(steps, latency), base_url=f"{SERVER}/v1", api_key="none", max_retries=0)
    keeper = None
    if durable:
        path = os.path.join(SCRATCH, f"langgraph-{os.getpid()}-{steps}.db")
        keeper = AsyncSqliteSaver(await aiosqlite.connect(path))
    agent = create_agent(chat, [noop], system_prompt="You are a helpful agent.", checkpointer=keeper)
    return agent, {"durability": "sync"} if durable else {}


async def run(made, steps, thread):
    agent, options = made
    config = {"recursion_limit": 4 * steps + 50, "configurable": {"thread_id": thread}}
    question = {"messages": [("user", "Run the noop tool as told.")]}
    answer = await agent.ainvoke(question, config, **options)
    assert len(answer["messages"]) == 2 * steps + 2, len(answer["messages"])


main("langgraph", make, run)
