import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isProvablyDead, type Owner, thisOwner } from './owner.ts';
import { Workspace } from './workspace.ts';

/** The one folder below the system's temp folder in which this service keeps everything it writes. */
export interface TempRoot extends AsyncDisposable {
  readonly path: string;
  /** A new folder for a request. */
  workspace(): Promise<Workspace>;
  /** A new folder (mode 0700) for an engine instance; whoever asked for it removes it. */
  folder(name: string): Promise<string>;
}

const PREFIX = 'platen-';
const OWNER_FILE = 'owner.json';

/**
 * Makes the temp root (mode 0700) below `parent`, and sweeps what dead services have left there.
 * @throws the system's error where the folder can't be made
 */
export async function createTempRoot(parent: string): Promise<TempRoot> {
  const self = await thisOwner();
  await sweep(parent, self);
  const path = await mkdtemp(join(parent, PREFIX));
  await writeFile(join(path, OWNER_FILE), JSON.stringify(self), { mode: 0o600 });
  let requests = 0;
  return {
    path,
    workspace() {
      requests += 1;
      return Workspace.create(join(path, `r${requests}`));
    },
    async folder(name) {
      const folder = join(path, name);
      await mkdir(folder, { mode: 0o700 });
      return folder;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function sweep(parent: string, self: Owner): Promise<void> {
  const folders = (await readdir(parent)).filter(name => name.startsWith(PREFIX)).map(name => join(parent, name));
  for (const folder of folders) {
    const owner = await ownerOf(folder);
    // What can't be removed (another user's) is not ours to complain about.
    if (owner && (await isProvablyDead(owner, self)))
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

async function ownerOf(folder: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8'));
  } catch {
    return undefined;
  }
}
