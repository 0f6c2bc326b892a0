// What the browser loads first: index.html and all that it names, gzip-compressed. Fails when
// it is more than the limit.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const LIMIT = 250_000;
const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");

const page = readFileSync(join(dist, "index.html"), "utf8");
if (/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/.test(page)) {
  console.error("index.html has an inline script or style, which the page's policy forbids");
  process.exit(1);
}
const names = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1]);
let total = 0;
for (const name of ["index.html", ...names]) {
  const bytes = gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;
  total += bytes;
  console.log(`${String(bytes).padStart(8)}  ${name}`);
}
console.log(`${String(total).padStart(8)}  first load; the limit is ${LIMIT}`);
process.exit(total > LIMIT ? 1 : 0);
