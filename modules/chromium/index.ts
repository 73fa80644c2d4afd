import { access, constants } from 'node:fs/promises';
import { EgressPolicy } from '../../src/egress/policy.ts';
import { BootFailure, defineModule } from '../../src/module.ts';
import { supervisorSettings } from '../../src/settings/engine-settings.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import { Browser } from './browser.ts';
import { chromiumRoutes } from './routes.ts';
import { sandboxWorks } from './sandbox.ts';
import { type ChromiumSettings, chromiumSettings, ENGINE_NAME } from './settings.ts';

/** HTML and web pages to PDF. */
export const chromium = defineModule({
  id: 'chromium',
  settings: { prefix: 'chromium', table: chromiumSettings },
  async create({ settings, log, runner, surroundings, temp, environment, apiPort }) {
    await requireBrowser(settings.binPath);
    const sandbox = await sandboxWorks(settings.sandbox, log);
    const policy = new EgressPolicy(settings, surroundings);
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
          settings,
          sandbox,
          folder: () => temp.folder(id),
          policy,
          judgeEachUrl: hasOwnLists(settings),
          forbiddenPorts: [apiPort],
          environment,
          clock: surroundings.clock,
          log: log.child({ instance: id }),
        });
        return latest;
      },
    });
    return {
      routes: settings.disableRoutes ? [] : chromiumRoutes({ supervisor, policy, isolation: settings.isolation }),
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

/** Lists beyond the defaults may speak of paths, which the proxy can't see inside https. */
function hasOwnLists({ allowList, denyList }: ChromiumSettings): boolean {
  const standard = chromiumSettings.denyList.default.map(String).join();
  return allowList.length > 0 || denyList.map(String).join() !== standard;
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
