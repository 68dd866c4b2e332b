import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One page with everything inside: it opens from disk and needs no network.
export default defineConfig({
  plugins: [viteSingleFile()],
  build: { target: "es2022", outDir: "dist", emptyOutDir: true },
  // By number: a bare system may not know the name localhost.
  server: { host: "127.0.0.1" },
  test: { api: { host: "127.0.0.1" }, include: ["tests/unit/**/*.test.ts"], environment: "node" },
} as never);
