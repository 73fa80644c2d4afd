import type { SupervisorSettings } from '../supervise/types.ts';
import { bytes, defaultsTo, duration, flag, int, type SettingsOf } from './declare.ts';

interface EngineDefaults {
  instances: number;
  /** The default of `instances` in words, where it depends on the machine. */
  instancesText?: string;
  restartAfter: number;
  maxMemory: string;
  /** Tasks at once in an instance; absent where the engine works on one at a time and there is no such setting. */
  maxConcurrency?: number;
}

/** The settings that every supervised engine has, under its module's prefix. */
export function engineSettings(name: string, defaults: EngineDefaults) {
  const instances = int({ default: defaults.instances, min: 1, doc: `Instances of ${name} side by side.` });
  return {
    autoStart: flag({ default: false, doc: `Start ${name} with the service, and be ready only when it is.` }),
    startTimeout: duration({ default: '20s', min: '1s', doc: `How long one start of ${name} may take.` }),
    instances: defaults.instancesText ? defaultsTo(defaults.instancesText, instances) : instances,
    restartAfter: int({
      default: defaults.restartAfter,
      min: 0,
      doc: `Conversions after which an instance of ${name} is renewed, without a gap; 0 means never.`,
    }),
    maxQueueSize: int({
      default: 0,
      min: 0,
      doc: `Requests that may wait for ${name}; one more is answered 429 at once. 0 means any number.`,
    }),
    idleShutdownTimeout: duration({ default: '0s', doc: `Stop ${name} after so long without work; 0 means never.` }),
    maxMemory: bytes({
      default: defaults.maxMemory,
      doc: `Renew an instance of ${name} that holds more memory than this.`,
    }),
    maxAge: duration({ default: '0s', doc: `Renew an instance of ${name} that is older than this; 0 means never.` }),
    renewInPlace: flag({
      default: false,
      doc: `Stop an instance of ${name} before its successor starts, where memory for two is short.`,
    }),
    refuseHopeless: flag({
      default: true,
      doc: `Refuse a request for ${name} with 503 at once where, going by recent run times, it would wait more than twice the time it has left.`,
    }),
    poisonTtl: duration({
      default: '10m',
      doc: `How long a document that crashed ${name} twice gets one attempt only, apart from others.`,
    }),
  };
}

export type EngineSettings = SettingsOf<ReturnType<typeof engineSettings>>;

export function supervisorSettings(settings: EngineSettings, maxConcurrency: number): SupervisorSettings {
  return { ...settings, maxConcurrency };
}
