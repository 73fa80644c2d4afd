import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boot } from '../src/boot.ts';
import type { Route } from '../src/http/route.ts';
import { BootFailure, defineModule, type EngineHandle, type Module, type ModuleContext } from '../src/module.ts';
import { flag } from '../src/settings/declare.ts';
import { kernelSettings } from '../src/settings/kernel-settings.ts';
import { readSettings } from '../src/settings/read.ts';
import { form, freePort } from './helpers/service.ts';
import { within } from './helpers/within.ts';
import { conversion } from './http/fake-routes.ts';

let temp: string;
beforeEach(async () => {
  temp = await mkdtemp(join(tmpdir(), 'boot-test-'));
});
afterEach(async () => {
  expect(await readdir(temp)).toEqual([]);
  await rm(temp, { recursive: true, force: true });
});

const start = async (modules: readonly Module[], env: Record<string, string> = {}) => {
  const all = { API_BIND_IP: '127.0.0.1', API_PORT: String(await freePort()), ...env };
  const settings = readSettings([...kernelSettings, ...modules.map(module => module.settings)], { env: all, args: [] });
  const log = pino({ level: 'silent' });
  return boot({ settings, modules, log, version: '1.0.0', tempFolder: temp, environment: { TZ: 'UTC' } });
};

/** An engine that starts and ends when a test says so. */
class FakeEngine implements EngineHandle {
  readonly id = 'fake';
  readonly name = 'the fake';
  readonly autoStart = true;
  readonly inHealth = true;
  readonly launched = Promise.withResolvers<void>();
  readonly events: string[] = [];
  usable = true;

  launch(): Promise<void> {
    return this.launched.promise;
  }

  async shutdown(bound: AbortSignal): Promise<void> {
    this.events.push(bound.aborted ? 'shutdown without patience' : 'shutdown');
  }

  status() {
    return { healthy: this.usable, usable: this.usable } as ReturnType<EngineHandle['status']>;
  }

  async version(): Promise<string> {
    return '1';
  }
}

const moduleWith = (engine: EngineHandle, routes: readonly Route[] = []) =>
  defineModule({ id: 'fake', settings: { prefix: 'fake', table: {} }, create: () => ({ routes, engine }) });

describe('readiness', () => {
  test('waits for the engines that start with the service, and is lost with an engine that is broken', async () => {
    const engine = new FakeEngine();
    const service = await start([moduleWith(engine)]);
    const readyz = async () => {
      const answer = await fetch(`${service.address}/readyz`);
      return [answer.status, await answer.text()];
    };
    expect(await readyz()).toEqual([503, 'the fake is starting']);
    engine.launched.resolve();
    await within(2_000, 'the service to be ready', service.ready);
    expect(await readyz()).toEqual([200, 'ready']);
    engine.usable = false;
    expect(await readyz()).toEqual([503, 'the fake could not be started; the log has the reason']);
    expect((await fetch(`${service.address}/livez`)).status).toBe(200);
    expect((await fetch(`${service.address}/health`)).status).toBe(503);
    await service.stop();
  });
});

describe('stopping', () => {
  test('engines are ended when all that was accepted is through, and not before', async () => {
    const engine = new FakeEngine();
    engine.launched.resolve();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const route = conversion(async () => {
      begun.resolve();
      await goOn.promise;
      engine.events.push('converted');
      return [{ file: '/proc/version', name: 'v.pdf' }];
    });
    const service = await start([moduleWith(engine, [route])]);
    const running = fetch(`${service.address}/forms/test`, { method: 'POST', body: form([['flag', 'true']]) });
    await begun.promise;
    const stopped = service.stop();
    const late = await fetch(`${service.address}/forms/test`, { method: 'POST', body: form([['flag', 'true']]) });
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '5']);
    expect(engine.events).toEqual([]);
    goOn.resolve();
    expect((await running).status).toBe(200);
    await within(5_000, 'the service to stop', stopped);
    expect(engine.events).toEqual(['converted', 'shutdown']);
    await expect(fetch(`${service.address}/livez`)).rejects.toThrow();
  });

  test('has an end: what never finishes is answered when the patience is over', async () => {
    const engine = new FakeEngine();
    const begun = Promise.withResolvers<void>();
    const never = conversion(request => {
      begun.resolve();
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));
    });
    const service = await start([moduleWith(engine, [never])], { GOTENBERG_GRACEFUL_SHUTDOWN_DURATION: '200ms' });
    const running = fetch(`${service.address}/forms/test`, { method: 'POST', body: form([['flag', 'true']]) });
    await begun.promise;
    await within(5_000, 'the service to stop', service.stop());
    const answer = await running;
    expect([answer.status, await answer.text()]).toEqual([503, 'The service is stopping. Retry on another instance.']);
    expect(engine.events).toEqual(['shutdown without patience']);
  });
});

test('a module is told its settings, what earlier ones offer, and nothing of the environment but what it may pass on', async () => {
  const seen: ModuleContext<never>[] = [];
  const tools = { apply: async () => {} };
  const first = defineModule({
    id: 'first',
    settings: { prefix: 'first', table: {} },
    create: () => ({ routes: [], provides: { pdf: tools } }),
  });
  const second = defineModule({
    id: 'second',
    settings: { prefix: 'second', table: { on: flag({ default: false, doc: '' }) } },
    create: context => {
      seen.push(context as unknown as ModuleContext<never>);
      return { routes: [] };
    },
  });
  const service = await start([first, second], { SECOND_ON: 'true', SECRET: 'x' });
  await service.stop();
  expect(seen[0]?.settings).toEqual({ on: true });
  expect(seen[0]?.capabilities.pdf).toBe(tools);
  expect(seen[0]?.environment).toEqual({ TZ: 'UTC' });
});

test('a module that can not be made ends the start, and leaves nothing', async () => {
  const broken = defineModule({
    id: 'broken',
    settings: { prefix: 'broken', table: {} },
    create: () => {
      throw new BootFailure('There is no such program.');
    },
  });
  await expect(start([broken])).rejects.toThrow('There is no such program.');
});
