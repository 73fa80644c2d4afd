import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Real engines share two cores with the tests: files one after the other keep every time bound honest.
    fileParallelism: false,
  },
});
