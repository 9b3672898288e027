import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { extends: "./vite.config.ts", test: { name: "unit", include: ["src/**/*.test.{ts,tsx}"], environment: "happy-dom" } },
      {
        test: {
          name: "browser",
          include: ["tests/**/*.test.ts"],
          environment: "node",
          fileParallelism: false,
          // Guards against hanging, and nothing else.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: "bench", include: ["bench/**/*.test.ts"], environment: "node", fileParallelism: false, testTimeout: 300_000, hookTimeout: 120_000 } },
    ],
  },
});
