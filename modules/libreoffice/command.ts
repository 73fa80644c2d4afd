import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The command line of a soffice without windows that listens on a pipe. */
export function sofficeArguments(profile: string, pipe: string): string[] {
  return [
    `-env:UserInstallation=${pathToFileURL(profile).href}`,
    '--headless',
    '--invisible',
    '--nologo',
    '--norestore',
    '--nodefault',
    '--nofirststartwizard',
    '--nolockcheck',
    `--accept=pipe,name=${pipe};urp;StarOffice.ComponentContext`,
  ];
}

/** All that soffice and its bridge see of the environment. */
export function sofficeEnvironment(folder: string, timeZone: string | undefined): Record<string, string> {
  return {
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    SAL_USE_VCLPLUGIN: 'svp',
    // For where neither /tmp nor /var/tmp can be written.
    OSL_SOCKET_PATH: folder,
    // Keeps soffice from looking for helper programs, such as converters of PostScript.
    PATH: '/nonexistent',
    ...(timeZone && { TZ: timeZone }),
  };
}

/** Without this description of a window no formula can be opened: Debian 12's LibreOffice without GUI leaves it out. */
const MATH_WINDOW = 'share/config/soffice.cfg/modules/smath/ui/mathwindow.ui';
const MATH_FILTERS = ['MathML XML (Math)', 'math8', 'StarOffice XML (Math)'];

/** Import filters that this installation lists but can't use. */
export async function unusableFilters(installation: string): Promise<readonly string[]> {
  const complete = await access(join(installation, MATH_WINDOW)).then(
    () => true,
    () => false,
  );
  return complete ? [] : MATH_FILTERS;
}
