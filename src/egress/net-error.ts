/**
 * A failure of the network as Chromium calls it (net/base/net_error_list.h), with its `net::`, so that a client reads the
 * same text whether the browser dialled by itself or we did.
 */
export function netError(error: unknown): string {
  const { code = '', syscall } = error as { code?: string; syscall?: string };
  // Node makes this one up where the other side closed without having said anything.
  if (code === 'ECONNRESET' && syscall === undefined) return 'net::ERR_EMPTY_RESPONSE';
  if (code === 'HPE_HEADER_OVERFLOW') return 'net::ERR_RESPONSE_HEADERS_TOO_BIG';
  if (code.startsWith('HPE_') || code.startsWith('ERR_')) return 'net::ERR_INVALID_HTTP_RESPONSE';
  return `net::${NAMES[code] ?? 'ERR_FAILED'}`;
}

export const NAME_NOT_RESOLVED = 'net::ERR_NAME_NOT_RESOLVED';

const NAMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'ERR_CONNECTION_REFUSED',
  ECONNRESET: 'ERR_CONNECTION_RESET',
  EPIPE: 'ERR_CONNECTION_RESET',
  ECONNABORTED: 'ERR_CONNECTION_ABORTED',
  ETIMEDOUT: 'ERR_CONNECTION_TIMED_OUT',
  EHOSTUNREACH: 'ERR_ADDRESS_UNREACHABLE',
  ENETUNREACH: 'ERR_ADDRESS_UNREACHABLE',
  EAFNOSUPPORT: 'ERR_ADDRESS_UNREACHABLE',
  EADDRNOTAVAIL: 'ERR_ADDRESS_INVALID',
  EINVAL: 'ERR_ADDRESS_INVALID',
  EACCES: 'ERR_NETWORK_ACCESS_DENIED',
  EPERM: 'ERR_NETWORK_ACCESS_DENIED',
  ENETDOWN: 'ERR_INTERNET_DISCONNECTED',
  EMFILE: 'ERR_INSUFFICIENT_RESOURCES',
  ENFILE: 'ERR_INSUFFICIENT_RESOURCES',
};
