import * as fc from 'fast-check';
import { test } from 'vitest';
import type { SupervisorSettings } from '../../src/supervise/types.ts';
import type { Behaviour } from '../helpers/fake-process.ts';
import { SETTINGS } from '../helpers/press.ts';
import { pick, World } from './model-world.ts';

/** How often; more in the nightly run. */
const RUNS = Number(process.env.MODEL_RUNS ?? 300);
/** A found counter-example is looked at with these, as fast-check prints them. */
const { MODEL_SEED, MODEL_PATH } = process.env;

interface Step {
  readonly words: string;
  take(world: World): Promise<unknown> | unknown;
}

const nth = fc.nat({ max: 5 });
const ms = fc.constantFrom(0, 1, 50, 100, 499, 500, 501, 1000, 3000, 10_000, 60_000);

const step = (words: string, take: Step['take']): Step => ({ words, take });

const requests = fc
  .record({
    limit: fc.constantFrom(undefined, 100, 1000, 5000, 30_000),
    fingerprint: fc.constantFrom(undefined, undefined, 'a', 'b'),
    obedient: fc.boolean(),
  })
  .map(({ limit, fingerprint, obedient }) =>
    step(`request(${limit}, ${fingerprint}, ${obedient ? 'obedient' : 'stubborn'})`, w =>
      w.request(limit, fingerprint, obedient),
    ),
  );

const behaviours: fc.Arbitrary<Partial<Behaviour>> = fc.record({
  start: fc.constantFrom<number | 'never'>(0, 0, 100, 1000, 10_000, 'never'),
  startFails: fc.constantFrom(false, false, true),
  abandon: fc.constantFrom('ends it', 'cannot', 'silent'),
  stop: fc.constantFrom(0, 300),
  answers: fc.constant(true),
});

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: requests },
  { weight: 1, arbitrary: fc.nat({ max: 4 }).map(n => step(`batch(${n})`, w => w.batch(n))) },
  { weight: 5, arbitrary: nth.map(n => step(`finish(${n})`, w => pick(w.running, n)?.finish())) },
  { weight: 2, arbitrary: nth.map(n => step(`finishFile(${n})`, w => w.finishFile(n))) },
  { weight: 2, arbitrary: nth.map(n => step(`finishEarly(${n})`, w => w.finishEarly(n))) },
  {
    weight: 2,
    arbitrary: fc.tuple(nth, fc.boolean()).map(([n, well]) => step(`cleaned(${n}, ${well})`, w => w.cleaned(n, well))),
  },
  { weight: 1, arbitrary: nth.map(n => step(`fail(${n})`, w => pick(w.running, n)?.fail(new Error('its own fault')))) },
  {
    weight: 2,
    arbitrary: nth.map(n =>
      step(`leave(${n})`, w =>
        pick(
          w.jobs.filter(j => j.settled === 0),
          n,
        )?.leave(),
      ),
    ),
  },
  { weight: 2, arbitrary: nth.map(n => step(`lose(${n})`, w => w.lose(n))) },
  { weight: 3, arbitrary: nth.map(n => step(`crash(${n})`, w => w.crash(n))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(nth, fc.constantFrom('stopped' as const, 'silent' as const, 'broken' as const))
      .map(([n, how]) => step(`freeze(${n}, ${how})`, w => w.freeze(n, how))),
  },
  { weight: 1, arbitrary: nth.map(n => step(`grow(${n})`, w => w.grow(n))) },
  { weight: 1, arbitrary: nth.map(n => step(`retire(${n})`, w => w.retire(n))) },
  { weight: 3, arbitrary: behaviours.map(b => step(`behave(${JSON.stringify(b)})`, w => w.behave(b))) },
  { weight: 7, arbitrary: ms.map(time => step(`pass(${time})`, w => w.press.pass(time))) },
  { weight: 1, arbitrary: fc.constant(step('launch()', w => w.launch())) },
);

const settings: fc.Arbitrary<SupervisorSettings> = fc
  .record({
    instances: fc.integer({ min: 1, max: 3 }),
    maxConcurrency: fc.integer({ min: 1, max: 3 }),
    maxQueueSize: fc.integer({ min: 0, max: 3 }),
    restartAfter: fc.integer({ min: 0, max: 3 }),
    idleShutdownTimeout: fc.constantFrom(0, 5000),
    maxMemory: fc.constantFrom(0, 1e9),
    maxAge: fc.constantFrom(0, 30_000),
    renewInPlace: fc.boolean(),
    refuseHopeless: fc.boolean(),
  })
  .map(chosen => ({ ...SETTINGS, startTimeout: 5000, ...chosen }));

/** fast-check runs, shrinks and prints commands; the world itself says what holds. */
class Command implements fc.AsyncCommand<object, World> {
  readonly #step: Step;

  constructor(step: Step) {
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, world: World): Promise<void> {
    await this.#step.take(world);
    world.check();
  }

  toString(): string {
    return this.#step.words;
  }
}

const shutdown = fc.constantFrom(false, true).map(now => (now ? [step('shutdown()', w => w.shutdown())] : []));

test(`whatever happens in whatever order, every promise holds and at rest nothing is left (${RUNS} runs)`, {
  timeout: 60_000 + RUNS * 200,
}, async () => {
  const commands = fc.commands([steps.map(s => new Command(s))], { maxCommands: 40, size: 'max' });
  const property = fc.asyncProperty(settings, commands, shutdown, async (chosen, happenings, end) => {
    const world = new World(chosen);
    await fc.asyncModelRun(() => ({ model: {}, real: world }), happenings);
    for (const last of end) await last.take(world);
    world.check();
    await world.finish();
  });
  await fc.assert(property, {
    numRuns: RUNS,
    ...(MODEL_SEED !== undefined && { seed: Number(MODEL_SEED) }),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
});
