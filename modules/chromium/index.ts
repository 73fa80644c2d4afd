import { access, constants } from 'node:fs/promises';
import { EgressPolicy } from '../../src/egress/policy.ts';
import { BootFailure, defineModule } from '../../src/module.ts';
import { supervisorSettings } from '../../src/settings/engine-settings.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import { Browser } from './browser.ts';
import { chromiumRoutes } from './routes.ts';
import { wantsSandbox } from './sandbox.ts';
import { type ChromiumSettings, chromiumSettings, DEFAULT_DENY_LIST, ENGINE_NAME } from './settings.ts';

/** HTML and web pages to PDF. */
export const chromium = defineModule({
  id: 'chromium',
  settings: { prefix: 'chromium', table: chromiumSettings },
  async create({ settings, log, runner, surroundings, temp, environment, apiPort }) {
    await requireBrowser(settings.binPath);
    refuseContradictions(settings);
    const sandbox = await wantsSandbox(settings.sandbox, log);
    const { clock } = surroundings;
    const policy = new EgressPolicy(settings, { clock });
    let latest: Browser | undefined;
    const supervisor = new ProcessSupervisor<Browser>({
      engine: 'chromium',
      name: ENGINE_NAME,
      settings: supervisorSettings(settings, settings.maxConcurrency),
      runner,
      surroundings,
      log,
      create(id) {
        latest = new Browser({
          program: settings.binPath,
          folder: () => temp.folder(id),
          lanes: settings.maxConcurrency,
          isolation: settings.isolation,
          sandbox,
          policy,
          judgesTunnels: hasOwnLists(settings),
          forbiddenPorts: [apiPort],
          environment,
          clock,
          log: log.child({ instance: id }),
        });
        return latest;
      },
    });
    return {
      routes: settings.disableRoutes ? [] : chromiumRoutes({ supervisor, policy }),
      engine: {
        id: 'chromium',
        name: ENGINE_NAME,
        autoStart: settings.autoStart,
        inHealth: true,
        launch: () => supervisor.launch(),
        shutdown: bound => supervisor.shutdown(bound),
        status: () => supervisor.status(),
        version: async () => latest?.version || 'not started yet',
      },
    };
  },
});

/** Lists beyond the defaults may speak of paths, which a proxy can't see inside https. */
function hasOwnLists({ allowList, denyList }: ChromiumSettings): boolean {
  return allowList.length > 0 || denyList.map(({ source }) => source).join() !== DEFAULT_DENY_LIST;
}

function refuseContradictions({ isolation, clearCache, clearCookies, clearStorage }: ChromiumSettings): void {
  if (isolation !== 'none' || !(clearCache || clearCookies || clearStorage)) return;
  throw new BootFailure(
    '--chromium-isolation=none clears nothing between pages. Leave the --chromium-clear-* settings out, or choose another isolation.',
  );
}

async function requireBrowser(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch {
    throw new BootFailure(
      `There is no browser at ${path}. Install it (apt-get install chromium-headless-shell), or name another with CHROMIUM_BIN_PATH.`,
    );
  }
}
