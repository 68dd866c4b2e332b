import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One page with everything inside: it opens from disk and asks no network.
export default defineConfig({
  plugins: [viteSingleFile()],
  build: { target: "es2022", outDir: "dist", emptyOutDir: true },
  test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
} as never);
