import type { Isolation } from './settings.ts';

export interface FlagOptions {
  /** The folder for the profile: the browser's own. */
  readonly profile: string;
  readonly isolation: Isolation;
  readonly sandbox: boolean;
}

/** The browser's command line. Each switch is there for a reason that its group names. */
export function browserFlags({ profile, isolation, sandbox }: FlagOptions): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    ...(sandbox ? [] : ['--no-sandbox']),

    // Every lane has a proxy of its own, loopback addresses included; whatever has none reaches nothing.
    '--proxy-server=127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',

    // A lane's renderer process serves one page after the other; without this each origin gets a process of its own.
    ...(isolation === 'process' ? [] : ['--renderer-process-limit=1']),

    // Nothing is fetched, asked or kept in the background.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-extensions',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-client-side-phishing-detection',
    '--metrics-recording-only',
    '--no-pings',
    '--no-first-run',
    '--no-default-browser-check',
    '--password-store=basic',
    '--use-mock-keychain',

    // A page opens no other, is never put to sleep, and is not brought back.
    '--block-new-web-contents',
    '--disable-features=BackForwardCache,Translate,OptimizationHints,MediaRouter',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-hang-monitor',

    // Looks the same on every machine, as the compatible API's output does.
    '--disable-gpu',
    '--disable-pdf-tagging',
    '--font-render-hinting=none',
    '--force-color-profile=srgb',
    '--hide-scrollbars',
    '--mute-audio',

    // Containers have a /dev/shm of 64 MB, which big pages fill; the temp folder has room.
    '--disable-dev-shm-usage',
  ];
}
