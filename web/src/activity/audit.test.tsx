import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { useRested } from "../parts/rested";
import { AuditState } from "./AuditState";

const place = document.body.appendChild(document.createElement("div"));
const asked = vi.fn();
let root: ReturnType<typeof createRoot>;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string) => {
    if (url === "/v1/whoami") return Promise.resolve(Response.json({ name: "you", tenant: "local", scopes: ["admin"] }));
    asked(url);
    return Promise.resolve(Response.json({ intact: true, events: 1_234, finding: null }));
  });
  asked.mockClear();
});
afterEach(() => {
  act(() => root.unmount());
  vi.unstubAllGlobals();
});

const opens = async (client: QueryClient) => {
  root = createRoot(place);
  await act(async () => root.render(<QueryClientProvider client={client}><AuditState /></QueryClientProvider>));
};
const of = (...scopes: string[]) => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000 } } });
  client.setQueryData(["whoami"], { name: "you", tenant: "local", scopes });
  return client;
};

test("whoever may not ask reads who may, and asks nothing", async () => {
  await opens(of("read", "approve"));
  expect(place.textContent).toBe("Whether the audit is intact, a token with the scope admin is told.");
  expect(asked).not.toHaveBeenCalled();
});

test("all that was signed is read once, and then when somebody asks", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const client = of("admin");
  await opens(client);
  await act(() => vi.advanceTimersByTimeAsync(10));
  expect(place.textContent).toContain("audit intact");
  act(() => root.unmount());
  await vi.advanceTimersByTimeAsync(3_600_000);
  await opens(client);
  await act(() => vi.advanceTimersByTimeAsync(10));
  expect([place.textContent?.includes("1,234 events"), asked.mock.calls.length]).toEqual([true, 1]);
  await act(async () => place.querySelector("button")?.click());
  expect(asked).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

test("what somebody types is looked for once they rest", () => {
  vi.useFakeTimers();
  const seen = new Set<string>();
  const Typed = ({ find }: { find: string }) => (seen.add(useRested(find)), null);
  root = createRoot(place);
  for (const find of ["", "k", "ku", "kum"]) {
    act(() => root.render(<Typed find={find} />));
    act(() => vi.advanceTimersByTime(100));
  }
  act(() => vi.advanceTimersByTime(1_000));
  expect([...seen]).toEqual(["", "kum"]);
  vi.useRealTimers();
});
