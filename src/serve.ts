// What `node src/main.ts` does: settings, boot, signals. The one file of src/ that imports modules/.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Logger } from 'pino';
import { modules } from '../modules/index.ts';
import { boot, type Service } from './boot.ts';
import { BootFailure } from './module.ts';
import { createLog, type LogDestination, standardError } from './observe/log.ts';
import { kernelSettings, logSettings } from './settings/kernel-settings.ts';
import { helpText } from './settings/print.ts';
import { readSettings, type Settings, SettingsInvalid } from './settings/read.ts';

/** What modules may pass on to their children: where things are, and how to write; never a secret. */
const PASSED_ON = ['PATH', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH'];

const groups = [...kernelSettings, ...modules.map(module => module.settings)];
const args = process.argv.slice(2);
const version = String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);

if (args.includes('--help')) console.log(helpText(groups));
else if (args.includes('--version')) console.log(version);
else await run();

async function run(): Promise<void> {
  const settings = settingsOrEnd();
  const destination = standardError();
  const log = createLog(settings.of(logSettings), destination);
  const asked = watchSignals();
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {}); // EPIPE: nobody reads on
  for (const warning of settings.warnings) log.warn(warning);
  const service = await serviceOrEnd(settings, log, destination);
  surviveMistakes(service, log, asked);
  void asked.again.promise.then(() => {
    log.warn('told twice to stop: ending at once');
    service.abandon();
    end(130, destination);
  });
  void service.ready.then(() => asked.stopping || announce(service.address));
  await asked.once.promise;
  await service.stop();
  end(asked.exitCode, destination);
}

function settingsOrEnd(): Settings {
  try {
    return readSettings(groups, { env: process.env, args });
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    for (const fault of error.faults) console.error(fault);
    process.exit(1);
  }
}

async function serviceOrEnd(settings: Settings, log: Logger, destination: LogDestination): Promise<Service> {
  try {
    const environment = Object.fromEntries(PASSED_ON.map(name => [name, process.env[name]]));
    return await boot({ settings, modules, log, version, tempFolder: tmpdir(), environment });
  } catch (error) {
    if (!(error instanceof BootFailure)) throw error;
    console.error(error.message);
    return end(1, destination);
  }
}

function announce(address: string): void {
  console.log(`Platen ${version} is ready: ${address}`);
  process.send?.({ listening: address });
}

interface Asked {
  /** Somebody wants the service to stop. */
  readonly once: PromiseWithResolvers<void>;
  /** Somebody wants it to stop at once. */
  readonly again: PromiseWithResolvers<void>;
  stopping: boolean;
  exitCode: number;
}

function watchSignals(): Asked {
  const asked: Asked = { once: Promise.withResolvers(), again: Promise.withResolvers(), stopping: false, exitCode: 0 };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      (asked.stopping ? asked.again : asked.once).resolve();
      asked.stopping = true;
    });
  }
  return asked;
}

/**
 * What nobody caught is a mistake of ours. A lost promise is logged: it has hurt its own request only. After an exception
 * out of nowhere nothing is certain, so the service finishes what it can and ends with an error, to be started anew.
 */
function surviveMistakes(service: Service, log: Logger, asked: Asked): void {
  process.on('unhandledRejection', err => log.error({ err }, 'a promise was lost'));
  process.on('uncaughtException', err => {
    log.error({ err, address: service.address }, 'an exception came out of nowhere: stopping');
    asked.exitCode = 1;
    asked.stopping = true;
    asked.once.resolve();
  });
}

function end(code: number, destination: LogDestination): never {
  try {
    destination.flushSync();
  } catch {
    // nobody reads the log
  }
  process.exit(code);
}
