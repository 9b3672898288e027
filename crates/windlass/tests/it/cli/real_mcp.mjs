// The official client for JavaScript starts `windlass mcp serve` and asks it for a task. It says `well` at the end.
//
// real_mcp.mjs FOLDER WINDLASS SCRIPT, where FOLDER has the client's package, with the environment that the server is to have.

import assert from "node:assert/strict";

const [folder, windlass, script] = process.argv.slice(2);
const sdk = `${folder}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StdioClientTransport } = await import(`${sdk}/stdio.js`);

const client = new Client({ name: "test", version: "1" });
const args = ["mcp", "serve", "--rehearsal", script];
await client.connect(new StdioClientTransport({ command: windlass, args, env: process.env, stderr: "inherit" }));
const begun = await client.callTool({ name: "start_task", arguments: { goal: "Find the word", checks: ["file: done.txt"] } });
assert.ok(!begun.isError, JSON.stringify(begun));
const task = begun.structuredContent.task_id;
const status = await client.callTool({ name: "task_status", arguments: { task } });
assert.equal(status.structuredContent.standing, "waiting");
await client.close();
console.log("well");
