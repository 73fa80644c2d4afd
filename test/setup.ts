import { beforeAll } from 'vitest';

// A listener leak or a deprecation is a failure, not a line that scrolls by.
beforeAll(() => {
  process.on('warning', warning => {
    throw warning;
  });
});
