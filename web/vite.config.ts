// The page may be served below any path, so all addresses are relative. Nothing is written
// into index.html itself: the server forbids inline scripts and styles.
import { defineConfig, type Plugin } from "vite";

const server = process.env["VIVACE_URL"] ?? "http://127.0.0.1:8080";
const paths = ["/v1", "/api", "/props", "/slots", "/metrics", "/tokenize", "/health", "/ready"];
const proxy = Object.fromEntries(paths.map((path) => [path, { target: server }]));

// KaTeX offers each font in three formats; every browser that can show this page takes woff2.
const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform(code, id) {
    if (!/katex.*\.css/.test(id)) return undefined;
    return code.replace(/,url\([^)]+\.(?:woff|ttf)\)\s*format\("[a-z]+"\)/g, "");
  },
};

export default defineConfig({
  base: "./",
  plugins: [onlyWoff2],
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    reportCompressedSize: false,
  },
  server: { proxy },
  preview: { proxy },
});
