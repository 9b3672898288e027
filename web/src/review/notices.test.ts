import { afterEach, beforeEach, expect, test, vi } from "vitest";

const shown: string[] = [];
class Shows {
  static permission = "granted";
  static requestPermission = () => Promise.resolve("granted");
  constructor(_: string, { body }: { body: string }) {
    shown.push(body);
  }
}
/** As Chrome has it on a phone. */
class Throws {
  static permission = "granted";
  static requestPermission = () => Promise.resolve("granted");
  constructor() {
    throw new TypeError("Illegal constructor");
  }
}
const notices = async (Notification: object | undefined) => {
  if (Notification !== undefined) vi.stubGlobal("Notification", Notification);
  return import("./notices");
};

beforeEach(() => {
  vi.resetModules();
  shown.length = 0;
});
afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, "locks");
});

test("a browser that throws has none, and nothing breaks", async () => {
  const { allow, may, notify } = await notices(Throws);
  expect(may()).toBe("granted");
  expect(notify("x")).toBe(false);
  expect(may()).toBe("unsupported");
  expect(await allow()).toBe("unsupported");
});

test("whoever allows them sees one, or that there are none", async () => {
  const { allow } = await notices(Shows);
  expect([await allow(), shown.length]).toEqual(["granted", 1]);
  vi.resetModules();
  const { allow: again } = await notices(Throws);
  expect(await again()).toBe("unsupported");
});

test("a tab in sight is known to the others of its token while it is, and to no others", async () => {
  const held: string[] = [];
  const request = async (name: string, _: object, act: () => Promise<void>) => {
    held.push(name);
    await act();
    held.splice(held.indexOf(name), 1);
  };
  Object.defineProperty(navigator, "locks", { configurable: true, value: { request, query: () => Promise.resolve({ held: held.map((name) => ({ name })) }) } });
  let state = "visible";
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => state as DocumentVisibilityState);
  const { holdWhileInSight, isLookedAt } = await notices(Shows);
  const turns = (to: string) => {
    state = to;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  const end = holdWhileInSight("one");
  await vi.waitFor(() => expect(held.length).toBe(1));
  // As another tab sees it, which is out of sight itself.
  state = "hidden";
  expect([await isLookedAt("one"), await isLookedAt("other")]).toEqual([true, false]);
  turns("hidden");
  await vi.waitFor(() => expect(held).toEqual([]));
  expect(await isLookedAt("one")).toBe(false);
  turns("visible");
  turns("hidden");
  turns("visible");
  await vi.waitFor(() => expect(held.length).toBe(1));
  end();
  await vi.waitFor(() => expect(held).toEqual([]));
});
