import { expect, test } from "vitest";

import { attached } from "./attached";

test("a file of any size is itself again", async () => {
  const bytes = Uint8Array.from({ length: 200_001 }, (_, at) => at % 256);
  const [one] = await attached([new File([bytes], "a.bin")]);
  expect([one?.name, one?.bytes]).toEqual(["a.bin", 200_001]);
  expect(Uint8Array.from(atob(one?.content ?? ""), (letter) => letter.charCodeAt(0))).toEqual(bytes);
});
