// The objective of `windlass demo`, for the console: its project and its agents, before them a planner who asks first, and beside them two
// who wait for a person: one draws a banner when it is told with which words, the other would never come to an end.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Scene } from "./served";

const DEMO = "../crates/windlass/demo";
const read = (path: string) => readFileSync(join(DEMO, path), "utf8");

const banner = `  - id: banner
    description: Draw a banner in parts/banner.sh.
    touches: {paths: [parts/banner.sh, parts/banner.md]}
    verify: [{command: sh parts/banner.sh | grep MADE, timeout: 10}]
  - id: music
    description: Compose music for the page, in parts/music.sh.
    touches: {paths: [parts/music.sh]}
    verify: [{file: parts/music.sh}]
`;

const objective = read("objective.md")
  .replace("protect: [tests/run.sh], timeout: 10}\n", "protect: [tests/run.sh], timeout: 10}\n    - {file: parts/banner.sh}\n")
  .replace("max_parallel_agents: 3", "max_parallel_agents: 5")
  .replace("or_groups:", `${banner}or_groups:`);

const ROUNDS = 45;

/** Each look is another one, so that whoever waits is not taken for somebody who goes round in circles. */
const looks = (who: string) =>
  Array.from({ length: ROUNDS }, (_, round) => `    - when: { request: '${who}'${round === 0 ? "" : `, last_result: 'round ${round}\\b'`} }
      delay_ms: 1200
      reply: Nobody has said yet with which words.
      calls: [ { tool: bash, args: { command: "echo round ${round + 1}" } } ]
      usage: { input: 800, output: 20 }
${round === 0 ? "" : "      repeat: forever\n"}`)
    .reverse()
    .join("");

const people = `  proxy:
    - when: { request: 'The user says\\s+hello' }
      reply: '{"route": "small_talk", "response": "Hello. What would you like to have done?"}'
      repeat: forever
    - reply: '{"route": "direct", "response": "That is in the folder."}'
      repeat: forever
  planner:
    - when: { request: 'User responded to your question' }
      reply: ${JSON.stringify(objective)}
      repeat: forever
    - calls:
        - tool: ask_user
          args: { question: "Which shell does it run in?", options: [POSIX sh, bash], context: "The new site is on an old machine." }
`;

/** After the first of the demo's, by which whoever has written something is done. */
const first = `    - when: { request: 'MADE BY HAND' }
      delay_ms: 300
      reply: With these words, then.
      calls:
        - { tool: write, args: { path: parts/banner.sh, content: "echo MADE BY HAND\\n" } }
        - { tool: write, args: { path: parts/banner.md, content: "# The banner\\n\\nIt says **MADE BY HAND**, on every shell:\\n\\n    sh parts/banner.sh\\n" } }
        - { tool: publish_deliverable, args: { filepath: parts/banner.md, description: The banner and how it is shown., type: report } }
      usage: { input: 900, output: 40 }
      repeat: forever
${looks("Draw a banner")}${looks("Compose music")}`;

export function scene(): Scene {
  const script = read("script.yaml").replace('    - when: { request: "Mend slug" }\n', (found) => first + found) + people;
  const parts = readdirSync(join(DEMO, "project"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = parts.map((entry) => join(entry.parentPath, entry.name).slice(join(DEMO, "project").length + 1));
  return { script, project: Object.fromEntries(paths.map((path) => [path, read(join("project", path))])) };
}
