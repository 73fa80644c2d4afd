import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** LibreOffice keeps its sockets in the first of these that it may write to (sal/osl/unx/pipe.cxx). */
const FOLDERS = ['/tmp', '/var/tmp'];

/**
 * Removes the sockets of an instance. A killed soffice leaves them behind, and one that is left can keep the next of that
 * name from starting.
 */
export async function removeSockets(instance: { pipe: string; folder: string; profile: string }): Promise<void> {
  const uid = process.getuid?.() ?? 0;
  const names = [instance.pipe, `SingleOfficeIPC_${profileHash(instance.profile)}`];
  // A user without an entry in /etc/passwd has no number in the name.
  const sockets = names.flatMap(name => [`OSL_PIPE_${uid}_${name}`, `OSL_PIPE_${name}`]);
  const paths = [...FOLDERS, instance.folder].flatMap(folder => sockets.map(socket => join(folder, socket)));
  await Promise.all(paths.map(path => rm(path, { force: true })));
}

/** How soffice names the socket by which a second start of a profile finds the first (desktop/source/app/officeipcthread.cxx). */
function profileHash(profile: string): string {
  const digest = createHash('md5')
    .update(Buffer.from(pathToFileURL(profile).href, 'utf16le'))
    .digest();
  return [...digest].map(byte => byte.toString(16)).join('');
}
