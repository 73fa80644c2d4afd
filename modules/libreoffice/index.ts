import { access, constants, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BootFailure, defineModule } from '../../src/module.ts';
import { type EngineSettings, supervisorSettings } from '../../src/settings/engine-settings.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import { convertRoute } from './routes.ts';
import { ENGINE_NAME, libreofficeSettings } from './settings.ts';
import { Soffice } from './soffice.ts';

/** Where Debian puts the binding for its own Python. */
const DEBIAN = { python: '/usr/bin/python3', uno: '/usr/lib/python3/dist-packages/uno.py' };

/** Office documents, and whatever else LibreOffice reads, to PDF. */
export const libreoffice = defineModule({
  id: 'libreoffice',
  settings: { prefix: 'libreoffice', table: libreofficeSettings },
  async create({ settings, log, runner, surroundings, temp, capabilities, environment }) {
    const soffice = await requireSoffice(settings.binPath);
    const python = settings.pythonBinPath;
    await requirePython(python);
    const warned = new Set<string>();
    let latest: Soffice | undefined;
    const supervisor = new ProcessSupervisor<Soffice>({
      engine: 'libreoffice',
      name: ENGINE_NAME,
      settings: supervisorSettings(settings as EngineSettings, 1),
      runner,
      surroundings,
      log,
      create(id) {
        latest = new Soffice({
          soffice,
          python,
          folder: () => temp.folder(id),
          memoryLimit: settings.memoryLimit,
          timeZone: environment.TZ,
          warn(text) {
            if (warned.has(text)) return;
            warned.add(text);
            log.warn({ engine: 'libreoffice' }, `soffice is not fully locked in: ${text}`);
          },
        });
        return latest;
      },
    });
    return {
      routes: settings.disableRoutes ? [] : [convertRoute(supervisor, capabilities.pdf)],
      engine: {
        id: 'libreoffice',
        name: ENGINE_NAME,
        autoStart: settings.autoStart,
        inHealth: true,
        launch: () => supervisor.launch(),
        shutdown: bound => supervisor.shutdown(bound),
        status: () => supervisor.status(),
        version: async () => latest?.facts?.version ?? 'not started yet',
      },
    };
  },
});

/** The program itself: the script `soffice` beside it would keep soffice from ending with the service. */
async function requireSoffice(path: string): Promise<string> {
  const real = await realpath(path).catch(() => path);
  const program = basename(real) === 'soffice' ? join(dirname(real), 'soffice.bin') : real;
  if (await allows(program, constants.X_OK)) return program;
  throw new BootFailure(
    `There is no LibreOffice at ${path}. Install it (apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-draw-nogui libreoffice-math-nogui), or name another with LIBREOFFICE_BIN_PATH.`,
  );
}

async function requirePython(python: string): Promise<void> {
  if (!(await allows(python, constants.X_OK))) {
    throw new BootFailure(
      `There is no Python at ${python}. Install it (apt-get install python3 python3-uno), or name another with PYTHON_BIN_PATH.`,
    );
  }
  if (python === DEBIAN.python && !(await allows(DEBIAN.uno, constants.R_OK))) {
    throw new BootFailure(
      `${python} has no uno. Install it (apt-get install python3-uno), or name a Python that has it with PYTHON_BIN_PATH.`,
    );
  }
}

function allows(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
