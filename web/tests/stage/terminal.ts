// A stand-in for an agent with a screen of its own, and its terminals as they open.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";

import type { Served } from "./served";

/** Begins a task with a terminal; says whose it is, once it is open. */
export async function terminal(served: Served, goal: string): Promise<string> {
  const bin = join(served.folder, "agents", "bin");
  mkdirSync(bin, { recursive: true });
  const agent = join(bin, "claude");
  // One that runs is not written over.
  if (!existsSync(agent)) copyFileSync("tests/stage/agent.sh", agent);
  chmodSync(agent, 0o755);
  // A terminal that opens is no record: its socket is looked for whenever something comes into its folder.
  const sockets = join(served.folder, "data", "terminals");
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  const open = () => readdirSync(sockets).flatMap((name) => (name.endsWith(".sock") ? [name.slice(0, -".sock".length)] : []));
  const known = open();
  const opened = new Promise<string>((resolve) => {
    const watcher = watch(sockets, () => {
      const fresh = open().find((execution) => !known.includes(execution));
      if (fresh === undefined) return;
      watcher.close();
      resolve(fresh);
    });
  });
  await served.begun(goal, { agent: "claude-code", terminal: true, limits: { max_attempts: 1 } });
  return opened;
}
