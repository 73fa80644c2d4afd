import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/*
 * The user profile of an instance: as little as lets soffice start at once. It fills in the rest by itself.
 */

/**
 * Writes a profile for this soffice into a folder that doesn't exist yet.
 * @throws the system's error where it can't be written
 */
export async function writeProfile(folder: string, soffice: string): Promise<void> {
  await mkdir(join(folder, 'user', 'extensions'), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'user', 'registrymodifications.xcu'), registry());
  const build = await buildId(soffice);
  if (build) await writeFile(join(folder, 'user', 'extensions', 'buildid'), build);
}

/**
 * Without this file, or with another build in it, soffice takes the profile for an old one, brings it up to date and ends
 * with code 81, wanting to be started again (desktop/source/app/app.cxx).
 */
async function buildId(soffice: string): Promise<string | undefined> {
  const version = await readFile(join(dirname(soffice), 'versionrc'), 'utf8').catch(() => '');
  return /^buildid=(.+)$/m.exec(version)?.[1]?.trim();
}

/** Component and node, property, value: what differs from LibreOffice's own defaults, or must not depend on them. */
const SETTINGS: readonly (readonly [node: string, property: string, value: string | number | boolean])[] = [
  // A version older than the program's, such as none, costs a graphics self-test of 0.7 s at each start.
  ['Setup/Product', 'ooSetupLastVersion', '999.9'],
  ['Setup/Office', 'ooSetupInstCompleted', true],
  ['Setup/Office', 'MigrationCompleted', true],

  // Nothing from outside the document, and nothing of it that runs.
  ['Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', true],
  ['Office.Common/Security/Scripting', 'DisableMacrosExecution', true],
  ['Office.Common/Security/Scripting', 'MacroSecurityLevel', 3],
  ['Office.Common/Security/Scripting', 'OfficeBasic', 0],
  ['Office.Common/Security/Scripting', 'ExecutePlugins', false],
  ['Office.Common/Security/Scripting', 'CheckDocumentEvents', true],
  // Old and rare formats are loaded without asking: the jail is what holds a reader that a document leads astray.
  ['Office.Common/Security', 'LoadExoticFileFormats', 2],
  ['Office.Writer/Content/Update', 'Link', 0], // never
  ['Office.Calc/Content/Update', 'Link', 1], // never, too
  ['Office.Common/Load', 'DetectWebDAVRedirection', false],
  ['Office.Java/VirtualMachine', 'Enable', false],

  // Nobody sits in front of it, and no two open one file.
  ['Office.Common/Misc', 'FirstRun', false],
  ['Office.Common/Misc', 'UseLocking', false],
  ['Office.Common/Misc', 'UseDocumentOOoLockFile', false],
  ['Office.Common/Misc', 'UseDocumentSystemFileLocking', false],
  ['Office.Common/Misc', 'UseWebDAVFileLocking', false],
  ['Office.Common/Misc', 'CrashReport', false],
  ['Office.Common/Misc', 'ShowTipOfTheDay', false],
  ['Office.Common/Misc', 'UseOpenCL', false],
  ['Office.Common/Misc', 'UseSystemFileDialog', false],
  ['Office.Common/Save/Document', 'AutoSave', false],
  ['Office.Common/Save/Document', 'CreateBackup', false],
  ['Office.Common/Save/Document', 'UseUserData', false],
  ['Office.Common/Save/Document', 'LoadPrinter', false],
  ['Office.Common/Save/Document', 'GenerateThumbnail', false],
  ['Office.Recovery/RecoveryInfo', 'Enabled', false],
  ['Office.Recovery/AutoSave', 'Enabled', false],

  // Formulas keep the results that the document came with.
  ['Office.Calc/Formula/Load', 'OOXMLRecalcMode', 1],
  ['Office.Calc/Formula/Load', 'ODFRecalcMode', 1],
];

function registry(): string {
  const items = SETTINGS.map(
    ([node, property, value]) =>
      `<item oor:path="/org.openoffice.${node}"><prop oor:name="${property}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    ...items,
    '</oor:items>',
    '',
  ].join('\n');
}
