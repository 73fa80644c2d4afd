/** Which addresses an engine, or the service itself, may reach. The compatible API's four settings for each of them. */
export interface EgressRules {
  /** Not empty: a URL must match one of these; one that does is not resolved and not judged by its address. */
  readonly allowList: readonly RegExp[];
  /** A URL that matches one of these is refused, even if allowed. */
  readonly denyList: readonly RegExp[];
  readonly denyPrivateIps: boolean;
  readonly denyPublicIps: boolean;
}

/** Whether a URL may be fetched. The reason is for the log; a client only hears `Forbidden`. */
export type Verdict =
  /** Dial one of these addresses; undefined: by name, as the allow list said so. */
  | { readonly ok: true; readonly addresses: readonly string[] | undefined }
  | { readonly ok: false; readonly why: 'policy' | 'unresolvable'; readonly reason: string };

/** Files that a door answers by itself, on a host name that nobody can guess. */
export interface VirtualSite {
  /** Such as `4f1c….localhost`. */
  readonly host: string;
  /** The file for a decoded path without its leading slash, or undefined: 404. Never opens anything outside the request's own. */
  find(path: string): string | undefined;
}

/** The way out for one lane: a local HTTP proxy of its own, so that it knows whose traffic it sees. */
export interface Door extends AsyncDisposable {
  /** `127.0.0.1:41234`, for the engine's proxy setting. */
  readonly address: string;
  /** Opens it for one request. Before and after, everything is refused. */
  admit(visit: { site?: VirtualSite; signal: AbortSignal }): Passage;
}

/** What passes through a door for one request. */
export interface Passage {
  /** What became of the latest fetch of this URL, undefined if it was never asked for. */
  outcome(url: string): Outcome | undefined;
  /** Whether anything but the virtual site was asked for. */
  readonly wentOutside: boolean;
  /** Ends the request's connections and refuses what still comes. */
  close(): void;
}

export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly statusText: string }
  /** By the lists or by the class of the address. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** As Chromium would have called it: `net::ERR_NAME_NOT_RESOLVED`, `net::ERR_CONNECTION_REFUSED`, … */
  | { readonly kind: 'failed'; readonly error: string }
  /** https or a WebSocket: connected. What was said inside, the status too, only the engine knows. */
  | { readonly kind: 'tunnelled' };
