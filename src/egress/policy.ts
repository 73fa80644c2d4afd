import type { Clock } from '../time/clock.ts';
import { classOf } from './address.ts';
import type { EgressRules, Verdict } from './egress.ts';
import { Names, type Resolve, systemResolve } from './names.ts';

/** Longer URLs are refused unread: the operator's expressions run on what strangers send. */
const LONGEST_URL = 16 * 1024;
const SCHEMES = new Set(['http:', 'https:', 'ws:', 'wss:']);

/** Judges URLs by an operator's rules. Holds nothing of a request: that is in the `Names` handed in. */
export class EgressPolicy {
  readonly #allow: readonly RegExp[];
  readonly #deny: readonly RegExp[];
  readonly #denies: { readonly private: boolean; readonly public: boolean };
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(rules: EgressRules, { clock, resolve = systemResolve }: { clock: Clock; resolve?: Resolve }) {
    this.#allow = rules.allowList.map(stateless);
    this.#deny = rules.denyList.map(stateless);
    this.#denies = { private: rules.denyPrivateIps, public: rules.denyPublicIps };
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** The names of one request, resolved once for all its judgements. */
  names(): Names {
    return new Names(this.#resolve, this.#clock);
  }

  /**
   * Whether a URL may be fetched, and at which addresses. `http`, `https`, `ws` and `wss` only.
   * @throws the signal's reason when it aborts while the name is being resolved
   */
  async judge(url: string | URL, signal: AbortSignal, names = this.names()): Promise<Verdict> {
    const target = parse(url);
    if (!(target instanceof URL)) return target;
    return this.byLists(target) ?? (await this.#byAddress(target, signal, names));
  }

  /**
   * The same for a tunnel, of which only host and port are known. It will carry https, or on any port but 443 perhaps a
   * plain WebSocket: it is opened if either may be; `byLists` has the last word when it is seen which one it is.
   */
  async judgeTunnel(authority: string, signal: AbortSignal, names = this.names()): Promise<Verdict> {
    const secure = await this.judge(`https://${authority}/`, signal, names);
    if (secure.ok || secure.why === 'unresolvable' || authority.endsWith(':443')) return secure;
    const plain = await this.judge(`ws://${authority}/`, signal, names);
    return plain.ok ? plain : secure;
  }

  /** What the two lists alone say of a URL; undefined: nothing, its addresses decide. */
  byLists(url: URL): Verdict | undefined {
    const spellings = spellingsOf(url);
    const quoted = quote(spellings[0]);
    const allowed = this.#allow.some(pattern => spellings.some(spelling => pattern.test(spelling)));
    if (this.#allow.length > 0 && !allowed)
      return refusal(`${quoted} does not match any expression from the allowed list`);
    // Who forbids something forbids it however it is written, with a password in front or a dot behind the host.
    const denied = this.#deny.some(pattern => [url.href, ...spellings].some(spelling => pattern.test(spelling)));
    if (denied) return refusal(`${quoted} matches the expression from the denied list`);
    return allowed ? { ok: true, addresses: undefined } : undefined;
  }

  async #byAddress(url: URL, signal: AbortSignal, names: Names): Promise<Verdict> {
    const addresses = await names.lookUp(url.hostname, signal);
    const quoted = quote(spellingsOf(url)[0]);
    if (addresses.length === 0)
      return { ok: false, why: 'unresolvable', reason: `${quoted} names a host that is not found` };
    const classes = new Set(addresses.map(classOf));
    if (this.#denies.private && classes.has('private')) return refusal(`${quoted} targets a non-public address`);
    if (this.#denies.public && classes.has('public')) return refusal(`${quoted} targets a public address`);
    return { ok: true, addresses };
  }
}

function parse(url: string | URL): URL | Verdict {
  const text = String(url);
  if (text.length > LONGEST_URL) return refusal(`${quote(text)} is longer than ${LONGEST_URL} characters`);
  if (!URL.canParse(text)) return refusal(`${quote(text)} is no URL`);
  // The parser turns 2130706433, 0x7f.1 and 0177.0.0.1 into the address that they are.
  const target = typeof url === 'string' ? new URL(text) : url;
  if (!SCHEMES.has(target.protocol)) return refusal(`${quote(text)} has a scheme other than http, https, ws and wss`);
  if (target.hostname === '') return refusal(`${quote(text)} names no host`);
  return target;
}

/**
 * The ways in which an operator may have written this address: as browsers send it, with the port that goes without
 * saying, and the bare host without its slash. Never with user and password: `https://good.example@evil.example` is not
 * at good.example.
 */
function spellingsOf(url: URL): readonly [string, ...string[]] {
  const host = url.hostname.replace(/\.$/, '');
  const rest = `${url.pathname}${url.search}`;
  const port = url.port || (url.protocol === 'http:' || url.protocol === 'ws:' ? '80' : '443');
  const usual = `${url.protocol}//${host}${url.port && `:${url.port}`}`;
  const explicit = `${url.protocol}//${host}:${port}`;
  return [`${usual}${rest}`, `${explicit}${rest}`, ...(rest === '/' ? [usual, explicit] : [])];
}

function refusal(reason: string): Verdict & { ok: false } {
  return { ok: false, why: 'policy', reason };
}

function quote(url: string): string {
  return `'${url.length > 300 ? `${url.slice(0, 300)}…` : url}'`;
}

/** An expression with `g` or `y` remembers where it stopped and would judge the same URL differently the next time. */
function stateless(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
}
