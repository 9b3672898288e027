// What a browser fetches before anything is shown: the page, and every script and style sheet that it names, as they are sent
// (compressed). Terminal and graph are in pieces of their own and do not count. More than 300 KB is a failure.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 300 * 1000;
const dist = new URL("../dist/console/", import.meta.url);
const page = readFileSync(new URL("index.html", dist));
const named = [...page.toString().matchAll(/(?:src|href)="\/([^"]+)"/g)].map((found) => found[1]);
const sizes = ["index.html", ...named].map((name) => [name, gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length]);
const total = sizes.reduce((sum, [, size]) => sum + size, 0);
for (const [name, size] of sizes) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(total).padStart(8)}  first load, compressed; the limit is ${LIMIT}`);
if (total > LIMIT) {
  console.error("first load: too much; what not everybody needs at once belongs into a piece of its own");
  process.exit(1);
}
