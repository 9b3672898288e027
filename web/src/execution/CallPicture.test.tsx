import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, test, vi } from "vitest";

import { CallPicture } from "./CallPicture";

afterEach(() => vi.unstubAllGlobals());

/** What is shown of a picture that the server says is of this kind, and of which kind the page says it is. */
async function shown(kind: string) {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const asked = vi.fn(() => Promise.reject(new Error("nothing is fetched")));
  vi.stubGlobal("fetch", asked);
  const made: string[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((content) => `blob:${made.push((content as Blob).type)}`);
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } });
  client.setQueryData(["blob", "d"], new Blob(["<svg onload=alert(1)>"], { type: "text/html" }));
  const place = document.createElement("div");
  const root = createRoot(place);
  const picture = { name: "screen\u202E.png", media_type: kind, width: 8, height: 6, digest: "d" };
  await act(async () => root.render(<QueryClientProvider client={client}><CallPicture picture={picture} /></QueryClientProvider>));
  const image = place.querySelector("img");
  const told = { address: image?.getAttribute("src") ?? null, made, words: place.textContent, asked: asked.mock.calls.length };
  act(() => root.unmount());
  return told;
}

test.each(["image/png", "image/jpeg", "image/gif", "image/webp"])("%s is drawn, as what it is said to be and as nothing else", async (kind) => {
  expect(await shown(kind)).toEqual({ address: "blob:1", made: [kind], words: "screen<U+202E>.png 8 × 6", asked: 0 });
});

test.each(["image/svg+xml", "text/html", "application/pdf", "IMAGE/PNG", ""])("%j is named, and neither drawn nor fetched", async (kind) => {
  expect(await shown(kind)).toEqual({ address: null, made: [], words: "screen<U+202E>.png 8 × 6", asked: 0 });
});
