import { expect, test } from "vitest";

import { asSent, attachedOf, MOST_FILES, tooMuch } from "./attachments";

test("text and pictures go as they are", async () => {
  const text = await attachedOf(new File(["a kumquat"], "notes.txt"));
  expect(asSent([text])).toEqual([{ name: "notes.txt", content: "YSBrdW1xdWF0" }]);
  const long = "é".repeat(50_000);
  const sent = await attachedOf(new File([long], "long.txt"));
  expect([sent.problem, new TextDecoder().decode(Uint8Array.from(atob(sent.content), (letter) => letter.charCodeAt(0)))]).toEqual([undefined, long]);
  const picture = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255, 254, ...new Array<number>(300_000).fill(7)]);
  expect((await attachedOf(new File([picture], "shown.png"))).problem).toBeUndefined();
});

test("what the server would refuse is refused before it is sent, with what to do", async () => {
  expect((await attachedOf(new File(["x".repeat(300_000)], "long.txt"))).problem).toContain("256 KiB");
  expect((await attachedOf(new File([new Uint8Array([255, 254])], "a.bin"))).problem).toContain("neither text nor a picture");
  expect((await attachedOf(new File([new Uint8Array(6_000_000)], "a.png"))).problem).toContain("larger than");
  const file = { name: "a", size: 4_000_000, content: "" };
  expect([tooMuch([file]), tooMuch([file, file, file, file])]).toEqual([null, "They have 16 MB together, and may have 15 MB."]);
  expect(tooMuch(new Array(MOST_FILES + 1).fill({ ...file, size: 1 }))).toContain("51 files");
});

test("what cannot be read is named, and says why it does not go", async () => {
  const folder = Object.assign(new File([], "folder"), { arrayBuffer: () => Promise.reject(new DOMException("", "NotFoundError")) });
  const found = await attachedOf(folder);
  expect([found.name, found.problem]).toEqual(["folder", expect.stringContaining("It cannot be read")]);
});
