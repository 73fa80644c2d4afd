import { setFlagsFromString } from 'node:v8';

// Streaming makes garbage: a buffer for every piece that comes in. V8 frees it when it collects the small object that owns
// it, and the roomier its space for young objects, the later: by default 20 uploads of 100 MB hold 70 MB that nobody
// uses. Kept from growing it is 21 MB, and CPU time is the same (measured on Node 24). Before anything else is loaded,
// since loading makes that space grow, and it does not shrink again.
setFlagsFromString('--semi-space-growth-factor=1');

await import('./serve.ts');
