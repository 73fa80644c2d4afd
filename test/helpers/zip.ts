import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The entries of a zip in their order, read by an implementation that isn't ours: Python's. */
export async function entriesOf(zip: Buffer): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-zip-'));
  try {
    const file = join(folder, 'a.zip');
    await writeFile(file, zip);
    const { stdout } = await run('/usr/bin/python3', ['-c', READ, file], { maxBuffer: 256 * 1024 * 1024 });
    const entries = JSON.parse(stdout) as [string, string][];
    return new Map(entries.map(([name, content]) => [name, Buffer.from(content, 'base64')]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const READ = `
import base64, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps([(i.filename, base64.b64encode(z.read(i)).decode()) for i in z.infolist()]))
`;
