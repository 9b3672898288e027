"""pydantic-ai, on OpenAI's client or, with PROVIDER=anthropic, on Anthropic's. Not durable."""

import os

from pydantic_ai import Agent, UsageLimits

from harness import SERVER, called, main, model

PROVIDER = os.environ.get("PROVIDER", "openai")


def provider_model(name):
    if PROVIDER == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(name, provider=AnthropicProvider(base_url=SERVER, api_key="none"))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=f"{SERVER}/v1", api_key="none", timeout=600.0)
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))


async def make(steps, latency, durable):
    assert not durable, "this peer is measured without durability"
    agent = Agent(provider_model(model(steps, latency)), system_prompt="You are a helpful agent.")

    @agent.tool_plain
    async def noop() -> str:
        "Does nothing."
        return called()

    return agent


async def run(agent, steps, _):
    answer = await agent.run("Run the noop tool as told.", usage_limits=UsageLimits(request_limit=None))
    assert len(answer.all_messages()) == 2 * steps + 2, len(answer.all_messages())


main("pydantic-ai" if PROVIDER == "openai" else "pydantic-ai-anthropic", make, run)
