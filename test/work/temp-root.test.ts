import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { thisOwner } from '../../src/work/owner.ts';
import { createTempRoot } from '../../src/work/temp-root.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'temp-root-test-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const owned = async (name: string, owner: unknown) => {
  await mkdir(join(parent, name));
  await writeFile(join(parent, name, 'owner.json'), typeof owner === 'string' ? owner : JSON.stringify(owner));
};

test('the temp folder is for this user only, and gone when the service is', async () => {
  const root = await createTempRoot(parent);
  expect((await stat(root.path)).mode & 0o777).toBe(0o700);
  const work = await root.workspace();
  await writeFile(work.next('.pdf'), 'x');
  expect((await stat(await root.folder('engine-1.1'))).mode & 0o777).toBe(0o700);
  await root[Symbol.asyncDispose]();
  expect(await readdir(parent)).toEqual([]);
});

test('a request has a folder of its own with names of its own', async () => {
  await using root = await createTempRoot(parent);
  const [a, b] = [await root.workspace(), await root.workspace()];
  expect(a.path).not.toBe(b.path);
  expect(new Set([a.next('.pdf'), a.next('.pdf'), b.next('.pdf')]).size).toBe(3);
});

describe('what an earlier service has left behind', () => {
  test('is swept when its process is dead: no such pid, or another start time', async () => {
    const self = await thisOwner();
    await owned('platen-other', { ...self, startTime: '1' });
    const child = spawn('true');
    await new Promise(resolve => child.once('exit', resolve));
    await owned('platen-ended', { ...self, pid: child.pid });
    await using root = await createTempRoot(parent);
    expect(await readdir(parent)).toEqual([root.path.slice(parent.length + 1)]);
  });

  test('stays when it may live: this process, another container, another machine, or who knows', async () => {
    const self = await thisOwner();
    await owned('platen-alive', self);
    await owned('platen-container', { ...self, pid: 4_000_000, pidNamespace: 'pid:[1]' });
    await owned('platen-machine', { ...self, pid: 4_000_000, bootId: 'another' });
    await owned('platen-broken', '{');
    await mkdir(join(parent, 'platen-unowned'));
    await owned('other-program', { ...self, startTime: '1' });
    await using _root = await createTempRoot(parent);
    expect(await readdir(parent)).toHaveLength(7);
  });

  test('names its owner', async () => {
    await using root = await createTempRoot(parent);
    const owner = JSON.parse(await readFile(join(root.path, 'owner.json'), 'utf8'));
    expect(owner).toEqual({
      pid: process.pid,
      startTime: expect.stringMatching(/^\d+$/),
      pidNamespace: expect.stringMatching(/^pid:\[\d+\]$/),
      bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
});

test('a folder that is still worked in stays until the work has ended', async () => {
  await using root = await createTempRoot(parent);
  const work = await root.workspace();
  const engine = Promise.withResolvers<void>();
  const more = Promise.withResolvers<void>();
  void work.hold(engine.promise.then(() => void work.hold(more.promise)));
  let gone = false;
  const disposal = work[Symbol.asyncDispose]().then(() => {
    gone = true;
  });
  engine.resolve();
  await new Promise(resolve => setImmediate(resolve));
  expect(gone).toBe(false);
  expect((await stat(work.path)).isDirectory()).toBe(true);
  more.reject(new Error('failed'));
  await disposal;
  await expect(stat(work.path)).rejects.toThrow('ENOENT');
});
