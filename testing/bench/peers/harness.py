"""How a peer is driven, the same for all: so many calls of a tool that does nothing, then an end, against the rehearsal
server whose address is in MODEL_SERVER. Figures are printed as JSON, one object a line; `src/peers.rs` reads them.

    PEER.py steps COUNT off|sync REPEATS     what a step costs
    PEER.py together COUNT off|sync AGENTS   many agents at once, with a model that takes 200 ms
    PEER.py start 0 off|sync                 one question, for whoever waits to see it

A peer brings `make(steps, latency, durable)`, which builds an agent, and `run(agent, steps, thread)`, which runs it.
"""

import asyncio
import json
import os
import resource
import sys
import time

SERVER = os.environ["MODEL_SERVER"]
SCRATCH = os.environ.get("BENCH_SCRATCH", "/tmp")
WINDOW = 20

calls = []


def called():
    """The tool does nothing but this."""
    calls.append(time.process_time())
    return "ok"


def model(steps, latency):
    return f"rehearsal/noop-{steps}-{latency}"


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_kb(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def tell(peer, durability, **figures):
    print(json.dumps({"peer": peer, "dur": durability, **figures}), flush=True)


def main(peer, make, run):
    mode, steps, durability = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    measure = {"steps": measure_steps, "together": measure_together, "start": measure_start}[mode]
    asyncio.run(measure(peer, make, run, steps, durability, count))
    # Clients' background threads must not hold up the end.
    sys.stdout.flush()
    os._exit(0)


async def warm_up(make, run, durable):
    """What is built once for a process is not a step's share."""
    await run(await make(2, 0, durable), 2, "warm")


async def measure_steps(peer, make, run, steps, durability, repeats):
    durable = durability != "off"
    await warm_up(make, run, durable)
    agent = await make(steps, 0, durable)
    for repeat in range(repeats):
        calls.clear()
        spent = cpu()
        await run(agent, steps, f"repeat-{repeat}")
        figures = {"mode": "steps", "n": steps, "cpu_ms_step": (cpu() - spent) * 1e3 / steps}
        if len(calls) >= 400:
            figures["cpu_ms_at_400"] = (calls[399] - calls[399 - WINDOW]) * 1e3 / WINDOW
        tell(peer, durability, **figures)


async def measure_together(peer, make, run, steps, durability, agents):
    durable = durability != "off"
    await warm_up(make, run, durable)
    agent = await make(steps, 200, durable)
    memory, spent, begun = memory_kb("VmRSS"), cpu(), time.perf_counter()
    outcomes = await asyncio.gather(
        *(run(agent, steps, f"agent-{number}") for number in range(agents)), return_exceptions=True
    )
    wall, spent = time.perf_counter() - begun, cpu() - spent
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failed:
        raise failed[0]
    each = (memory_kb("VmHWM") - memory) / agents
    tell(peer, durability, mode="conc", n=steps, agents=agents, wall_s=wall, cpu_s=spent, rss_kb_agent=each)


async def measure_start(peer, make, run, steps, durability, _):
    await run(await make(0, 0, durability != "off"), 0, "start")
