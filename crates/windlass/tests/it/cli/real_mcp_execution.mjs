// The official client for JavaScript against the endpoint of the very execution that it runs in. It says `well` at the end.
//
// real_mcp_execution.mjs FOLDER URL TOKEN, where FOLDER has the client's package.

import assert from "node:assert/strict";

const [folder, url, token] = process.argv.slice(2);
const sdk = `${folder}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);

const requestInit = { headers: { authorization: `Bearer ${token}` } };
const over = new StreamableHTTPClientTransport(new URL(url), { requestInit });
const client = new Client({ name: "test", version: "1" });
await client.connect(over);
const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "progress"));
const told = await client.callTool({ name: "progress", arguments: { summary: "half of it" } });
assert.ok(!told.isError && told.content[0].text.includes("Recorded"), JSON.stringify(told));
await assert.rejects(client.callTool({ name: "approve", arguments: {} }), /there is no tool/);
await over.terminateSession();
await client.close();
console.log("well");
process.exit();
