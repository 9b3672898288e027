import { afterEach, expect, test, vi } from "vitest";

import { ask, get } from "./client";
import { asProblem } from "./problem";

afterEach(() => vi.unstubAllGlobals());
const answered = (answer: () => Promise<Response>) => vi.stubGlobal("fetch", answer);
const problem = (asked: Promise<unknown>) => asked.then(() => expect.unreachable("it was answered"), asProblem);

test("a page that broke is not said to be a server that cannot be reached", () => {
  const told = asProblem(new TypeError("Cannot read properties of null (reading 'replace')"));
  expect([told.code, told.isOutage, told.message]).toEqual(["broken", false, "Cannot read properties of null (reading 'replace')."]);
});

test("a server that cannot be reached is, before it answers and while it does", async () => {
  answered(() => Promise.reject(new TypeError("Failed to fetch")));
  expect((await problem(ask("/v1/whoami"))).code).toBe("unreachable");
  answered(() => Promise.resolve(Object.assign(new Response(), { json: () => Promise.reject(new TypeError("network error")) })));
  expect((await problem(get("/v1/whoami"))).code).toBe("unreachable");
});
