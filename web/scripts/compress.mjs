// Puts a compressed copy beside each file of the built console: the server sends that, and compresses nothing itself.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/console/", import.meta.url);
for (const name of readdirSync(dist, { recursive: true })) {
  if (!/\.(html|js|css|svg)$/.test(name)) continue;
  const file = readFileSync(new URL(name, dist));
  writeFileSync(new URL(`${name}.gz`, dist), gzipSync(file, { level: 9 }));
}
