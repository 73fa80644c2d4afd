import { validateHeaderName, validateHeaderValue } from 'node:http';

/** What belongs to one connection and is never passed on (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers to pass on, in their order and spelling, as Node's flat list; what could not be sent again is left out. */
export function endToEnd(raw: readonly string[]): string[] {
  const named = new Set<string>();
  for (const [name, value] of pairs(raw)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const word of value.split(',')) named.add(word.trim().toLowerCase());
  }
  return pairs(raw)
    .filter(([name, value]) => {
      const key = name.toLowerCase();
      return !HOP_BY_HOP.has(key) && !named.has(key) && isSendable(name, value);
    })
    .flat();
}

/** The headers of a request, for the host that its URL names. */
export function withHost(raw: readonly string[], host: string): string[] {
  const others = pairs(raw).filter(([name]) => name.toLowerCase() !== 'host');
  return ['Host', host, ...others.flat()];
}

export function pairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) list.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return list;
}

/** Servers say odd things; one odd header is no reason to lose a page. */
function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
