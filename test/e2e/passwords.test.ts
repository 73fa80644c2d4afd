import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../helpers/pdf.ts';
import { Service } from '../helpers/service.ts';

const PROTECT = join(import.meta.dirname, '../../fixtures/office/protect.py');
const SOFFICE = '/usr/lib/libreoffice/program/soffice.bin';
const OFFICE = '/forms/libreoffice/convert';
const PASSWORD = 'open sesame';

let service: Service;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platen-passwords-'));
  await promisify(execFile)('/usr/bin/python3', [PROTECT, SOFFICE, folder, PASSWORD]);
  service = await Service.start();
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function convert(name: string, password?: string): Promise<Response> {
  const content = new Uint8Array(await readFile(join(folder, name)));
  return service.post(OFFICE, [['files', name, content], ...(password ? [['password', password] as const] : [])]);
}

test('a protected document opens with its password, and without it is told from one with a wrong one', async () => {
  const opened = await convert('protected.odt', PASSWORD);
  expect(opened.status).toBe(200);
  expect(await textOf(new Uint8Array(await opened.arrayBuffer()))).toContain('Memo');
  const missing = await convert('protected.odt');
  expect([missing.status, await missing.text()]).toEqual([
    400,
    "The document 'protected.odt' is password-protected. Provide its password in the 'password' form field.",
  ]);
  const wrong = await convert('protected.odt', 'guess');
  expect([wrong.status, await wrong.text()]).toEqual([
    400,
    "The password for the document 'protected.odt' is incorrect. Check the 'password' form field.",
  ]);
  expect(service.output.join('\n')).not.toContain(PASSWORD);
});

test('a password that nothing asks for is a fault', async () => {
  const open = await convert('open.docx', PASSWORD);
  expect([open.status, await open.text()]).toEqual([
    400,
    "The document 'open.docx' is not password-protected. Remove the 'password' form field.",
  ]);
});
