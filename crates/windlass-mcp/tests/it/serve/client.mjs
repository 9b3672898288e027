// The official client for JavaScript, which most coding agents are built on, set on our server: greeting, list, call, errors,
// cancelling, the stream that it listens on, ending a session, a wrong token. It says `well` at the end.
//
// client.mjs FOLDER URL TOKEN, where FOLDER has the client's package.

import assert from "node:assert/strict";

const [folder, url, token] = process.argv.slice(2);
const sdk = `${folder}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);

function transport(bearer) {
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit });
}

async function connected() {
  const client = new Client({ name: "test", version: "1" });
  const over = transport(token);
  const errors = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(over);
  return { client, over, errors };
}

for (let again = 0; again < 2; again += 1) {
  const { client, over, errors } = await connected();
  assert.ok(over.sessionId);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "echo"));
  const echo = await client.callTool({ name: "echo", arguments: { text: "grüße\n" } });
  assert.deepEqual(echo.structuredContent, { text: "grüße\n" });
  assert.equal((await client.callTool({ name: "fail", arguments: {} })).isError, true);
  await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), /there is no tool/);

  const abort = new AbortController();
  const held = client.callTool({ name: "hold", arguments: {} }, undefined, { signal: abort.signal });
  await client.callTool({ name: "begun", arguments: {} });
  abort.abort("enough");
  await assert.rejects(held);
  await client.callTool({ name: "given_up", arguments: {} });

  await over.terminateSession();
  await client.close();
  assert.deepEqual(errors.map(String), []);
}

await assert.rejects(new Client({ name: "test", version: "1" }).connect(transport("wrong")), /token/);
console.log("well");
process.exit();
