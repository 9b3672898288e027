// A server of the real program, in a folder of its own, with rehearsed agents. It can be killed and started again over the same data.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";

const PROGRAM = resolve(process.env.WINDLASS ?? "../target/debug/windlass");

/** What is played, and in which folder. */
export interface Scene {
  script: string;
  /** Contents by path. */
  project: Record<string, string>;
}

const usual = (): Scene => ({ script: readFileSync("tests/stage/script.yaml", "utf8"), project: { "old.txt": "old\n" } });

export class Served {
  private child: ChildProcess | undefined;
  token = "";

  private constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  /** `executor`: what agents do besides, before everything that the scene's script has for them. */
  static async start({ scene = usual(), executor = "" }: { scene?: Scene; executor?: string } = {}): Promise<Served> {
    if (!existsSync(PROGRAM)) throw new Error(`there is no program at ${PROGRAM}: build it, or say where with WINDLASS`);
    const folder = mkdtempSync(join(tmpdir(), "windlass-console-"));
    mkdirSync(join(folder, "project"));
    mkdirSync(join(folder, "data"), { mode: 0o700 });
    writeFileSync(join(folder, "script.yaml"), scene.script.replace(/^  executor:\n/m, (line) => line + executor));
    for (const [path, content] of Object.entries(scene.project)) {
      mkdirSync(dirname(join(folder, "project", path)), { recursive: true });
      writeFileSync(join(folder, "project", path), content);
    }
    const served = new Served(folder, await freePort());
    await served.begin();
    served.token = readFileSync(join(folder, "data", "token"), "utf8").trim();
    return served;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Until it listens. */
  async begin(): Promise<void> {
    const words = ["serve", "--listen", `127.0.0.1:${this.port}`, "--workspace", join(this.folder, "project"), "--rehearsal", join(this.folder, "script.yaml"), "--drain", "1"];
    const env = { PATH: process.env.PATH, HOME: this.folder, WINDLASS_DATA_DIR: join(this.folder, "data"), USER: "you", WINDLASS_AGENTS: join(this.folder, "agents") };
    const child = spawn(PROGRAM, words, { cwd: join(this.folder, "project"), env, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    let said = "";
    child.stderr.on("data", (piece: Buffer) => (said += piece.toString()));
    for await (const line of createInterface(child.stdout)) if (line.startsWith("serving at ")) return;
    throw new Error(`the server did not begin: ${said}`);
  }

  async kill(): Promise<void> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async ask<T = Record<string, unknown>>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(this.address + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body ? { "Content-Type": "application/json" } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Of the project, as it is now. */
  file(path: string): string | undefined {
    const whole = join(this.folder, "project", path);
    return existsSync(whole) ? readFileSync(whole, "utf8") : undefined;
  }

  async begun(goal: string, more: object = {}): Promise<string> {
    return (await this.ask<{ task_id: string }>("POST", "/v1/tasks", { goal, ...more })).task_id;
  }

  /** Looked at after each event until it is as wanted. */
  async at_last<T>(path: string, wanted: (seen: never) => T | undefined): Promise<T> {
    const end = new AbortController();
    const events = await fetch(`${this.address}/v1/events`, { headers: { Authorization: `Bearer ${this.token}` }, signal: end.signal });
    const reader = events.body?.getReader();
    try {
      for (;;) {
        const found = wanted((await this.ask(
          "GET",
          path,
        )) as never);
        if (found !== undefined) return found;
        if ((await reader?.read())?.done) throw new Error(`${path} is not as wanted, and nothing happens any more`);
      }
    } finally {
      end.abort();
    }
  }

  card(goal: string): Promise<string> {
    const fits = ({ approvals }: { approvals: { card: { card_id: string; intent: string } }[] }) => approvals.find(({ card }) => card.intent.includes(goal))?.card.card_id;
    return this.at_last("/v1/approvals", fits);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
