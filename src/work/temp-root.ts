import type { Workspace } from './workspace.ts';

/** The one folder below the system's temp folder in which this service keeps everything it writes. */
export interface TempRoot extends AsyncDisposable {
  readonly path: string;
  /** A new folder for a request. */
  workspace(): Promise<Workspace>;
  /** A new folder (mode 0700) for an engine instance; whoever asked for it removes it. */
  folder(name: string): Promise<string>;
}
