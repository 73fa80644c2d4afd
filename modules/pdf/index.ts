import { access, constants } from 'node:fs/promises';
import { BootFailure, defineModule } from '../../src/module.ts';
import { type EngineSettings, supervisorSettings } from '../../src/settings/engine-settings.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import { pdfRoutes } from './routes.ts';
import { ENGINE_NAME, pdfSettings } from './settings.ts';
import { pdfTools } from './tools.ts';
import { PdfWorker } from './worker.ts';

/** Where Debian puts the library for its own Python. */
const DEBIAN = { python: '/usr/bin/python3', library: '/usr/lib/python3/dist-packages/pikepdf/__init__.py' };

/** Work on finished PDFs: the routes under /forms/pdfengines, and the same tools for other modules. */
export const pdf = defineModule({
  id: 'pdf',
  settings: { prefix: 'pdfengines', table: pdfSettings },
  async create({ settings, log, runner, surroundings, temp }) {
    const python = settings.pythonBinPath;
    await requirePython(python);
    let latest: PdfWorker | undefined;
    const supervisor = new ProcessSupervisor<PdfWorker>({
      engine: 'pdf',
      name: ENGINE_NAME,
      settings: supervisorSettings(settings as EngineSettings, 1),
      runner,
      surroundings,
      log,
      create(id) {
        latest = new PdfWorker({ python, folder: () => temp.folder(id), memoryLimit: settings.memoryLimit });
        return latest;
      },
    });
    const tools = pdfTools(supervisor);
    return {
      routes: settings.disableRoutes ? [] : pdfRoutes(tools),
      provides: { pdf: tools },
      engine: {
        id: 'pdf',
        name: ENGINE_NAME,
        autoStart: settings.autoStart,
        inHealth: false,
        launch: () => supervisor.launch(),
        shutdown: bound => supervisor.shutdown(bound),
        status: () => supervisor.status(),
        version: async () => describe(latest),
      },
    };
  },
});

function describe(worker: PdfWorker | undefined): string {
  const versions = worker?.versions;
  return versions ? `pikepdf ${versions.pikepdf}, qpdf ${versions.qpdf}, Python ${versions.python}` : 'not started yet';
}

async function requirePython(python: string): Promise<void> {
  if (!(await allows(python, constants.X_OK))) {
    throw new BootFailure(
      `There is no Python at ${python}. Install it (apt-get install python3 python3-pikepdf), or name another with PYTHON_BIN_PATH.`,
    );
  }
  if (python === DEBIAN.python && !(await allows(DEBIAN.library, constants.R_OK))) {
    throw new BootFailure(
      `${python} has no pikepdf. Install it (apt-get install python3-pikepdf), or name a Python that has it with PYTHON_BIN_PATH.`,
    );
  }
}

function allows(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
