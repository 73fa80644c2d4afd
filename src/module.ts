import type { Logger } from 'pino';
import type { Capabilities } from './capability/capabilities.ts';
import type { Route } from './http/route.ts';
import type { SettingsGroup, SettingsOf, SettingTable } from './settings/declare.ts';
import type { Runner } from './supervise/runner.ts';
import type { EngineStatus } from './supervise/supervisor.ts';
import type { Surroundings } from './supervise/types.ts';
import type { TempRoot } from './work/temp-root.ts';

/** What the kernel hands to a module when it is made. */
export interface ModuleContext<T extends SettingTable> {
  readonly settings: SettingsOf<T>;
  readonly log: Logger;
  readonly surroundings: Surroundings;
  /** Keeps every engine instance of the application alive. */
  readonly runner: Runner;
  /** Where instances and requests get their folders. */
  readonly temp: TempRoot;
  /** What the modules before this one offer to others. */
  readonly capabilities: Capabilities;
  /** The port that the service listens on: nothing that an engine fetches may lead there. */
  readonly apiPort: number;
  /** `PATH`-like facts of the process's environment that a module may pass on to a child; never the whole of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A module that has been made: what it adds to the service. What it doesn't offer it leaves out. */
export interface ModuleParts {
  readonly routes: readonly Route[];
  readonly provides?: Partial<Capabilities>;
  /** Its engine, for health, readiness, metrics and debugging; the kernel also shuts it down. */
  readonly engine?: EngineHandle;
}

export interface EngineHandle {
  /** The name in `/health` and in metrics: `chromium`. */
  readonly id: string;
  /** The name for people: `Chromium`. */
  readonly name: string;
  /** Whether it shall be started, and awaited, before the service is ready. */
  readonly autoStart: boolean;
  /** Whether `/health` lists it; the compatible API knows only its two engines. */
  readonly inHealth: boolean;
  launch(): Promise<void>;
  /** Finishes what was accepted within the bound that the signal sets, then ends everything. */
  shutdown(bound: AbortSignal): Promise<void>;
  status(): EngineStatus;
  /** The engine's version, for `/debug`. */
  version(): Promise<string>;
}

/** One feature, replaceable: its folder, its settings, its engine, its routes. */
export interface Module<T extends SettingTable = SettingTable> {
  /** Names the folder, the log field and the test tag. */
  readonly id: string;
  readonly settings: SettingsGroup<T>;
  /**
   * Makes the module without starting anything.
   * @throws BootFailure where something it needs is missing, naming what to install
   */
  create(context: ModuleContext<T>): ModuleParts | Promise<ModuleParts>;
}

/** Keeps the types of a module's settings through to its `create`. */
export function defineModule<T extends SettingTable>(module: Module<T>): Module {
  return module as unknown as Module;
}

/** What makes a start impossible, with the remedy: printed as one line, exit code 1, no stack. */
export class BootFailure extends Error {
  override readonly name = 'BootFailure';
}
