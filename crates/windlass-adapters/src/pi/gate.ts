// Asks before every call that is not a read: over rpc whoever drives Pi, on a screen whoever sits at it. Without either, nothing
// is allowed. The answer is `allow`, or the reason why not, which the agent is told.
const READS = new Set(["read", "grep", "find", "ls"]);

export default function (pi) {
  pi.on("session_start", async (_event, ctx) => {
    if (ctx.mode === "rpc") ctx.ui.notify("windlass gate", "info");
  });

  pi.on("tool_call", async (event, ctx) => {
    if (READS.has(event.toolName)) return undefined;
    const answer = await ask(event, ctx);
    return answer === "allow" ? undefined : { block: true, reason: answer ?? "nobody allowed it" };
  });
}

async function ask(event, ctx) {
  const input = JSON.stringify(event.input);
  if (ctx.mode === "rpc") {
    const question = JSON.stringify({ call: event.toolCallId, tool: event.toolName, input: event.input });
    return ctx.ui.input("windlass permission", question);
  }
  if (ctx.mode === "tui") {
    return (await ctx.ui.confirm(`Allow ${event.toolName}?`, input)) ? "allow" : "whoever watches said no";
  }
  return undefined;
}
