import { copyFile, link, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

export interface JobFiles {
  readonly input: string;
  readonly output: string;
}

/** Puts a document into a new folder for its conversion: the jail ends at the instance's folder. */
export async function bringIn(folder: string, document: { file: string; name: string }): Promise<JobFiles> {
  await mkdir(folder);
  const input = join(folder, nameOnDisk(document.name));
  await link(document.file, input).catch(() => copyFile(document.file, input));
  return { input, output: join(folder, RESULT) };
}

/** Moves the result to where it is wanted; where that is another file system, it is copied. */
export async function takeOut({ output }: JobFiles, to: string): Promise<void> {
  await rename(output, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    await copyFile(output, to);
  });
}

const RESULT = 'result.pdf';

/** The client's own name, which fields in a document may show, unless a file can't be called so. */
export function nameOnDisk(name: string): string {
  const fits = Buffer.byteLength(name) <= 200 && !/^\.|[/\\\0]/.test(name) && name !== RESULT;
  return fits ? name : `document${/\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? ''}`;
}
