import { act, useState } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Attached } from "../stream/attachments";
import { Attachments } from "./Attachments";

const place = document.body.appendChild(document.createElement("div"));
let root: ReturnType<typeof createRoot>;

function Form() {
  const [files, setFiles] = useState<Attached[]>([]);
  return <form><textarea /><Attachments files={files} onFiles={setFiles} /></form>;
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  root = createRoot(place);
  act(() => root.render(<Form />));
});
afterEach(() => {
  act(() => root.unmount());
  vi.unstubAllGlobals();
});

const gives = (kind: "paste" | "drop", files: File[]) => {
  const event = new Event(kind, { bubbles: true, cancelable: true });
  Object.assign(event, { [kind === "paste" ? "clipboardData" : "dataTransfer"]: { files, types: files.length > 0 ? ["Files"] : ["text/plain"] } });
  act(() => void place.querySelector("textarea")?.dispatchEvent(event));
  return event;
};

test.each(["paste", "drop"] as const)("a file goes with it wherever in the form one would %s it, and words go into the field", async (kind) => {
  expect(gives(kind, []).defaultPrevented).toBe(false);
  expect(gives(kind, [new File(["a kumquat"], "notes.txt")]).defaultPrevented).toBe(true);
  await vi.waitFor(async () => {
    await act(() => Promise.resolve());
    expect(place.textContent).toContain("notes.txt");
  });
});
