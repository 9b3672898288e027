// The pictures that the documents show are those that the tests take, and each that is taken is shown.
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

const within = (folder: string, ending: string): string[] => readdirSync(folder).flatMap((name) => (name.endsWith(ending) ? [`${folder}/${name}`] : []));
const named = (files: string[], name: RegExp): string[] => [...new Set(files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(name)].map(([, one]) => one ?? "")))].sort();

test("every picture of the console is taken by a test, and shown by a document", () => {
  const taken = named(within("tests", ".test.ts"), /picture\(page, "([\w-]+)"\)/g);
  const shown = named(["../README.md", ...within("../docs", ".md")], /\((?:docs\/)?(console-[\w-]+)\.png\)/g);
  expect(shown).toEqual(taken);
  expect(taken.filter((name) => !existsSync(`../docs/${name}.png`))).toEqual([]);
  expect(taken).not.toEqual([]);
});
