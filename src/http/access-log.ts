import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { Failure } from '../failure/failure.ts';
import type { Clock } from '../time/clock.ts';
import type { Exchange } from './exchange.ts';

const LONGEST_TEXT = 1000;

/**
 * Writes one line for a request as soon as its connection has nothing more to say: info, or warn for a client's fault, or
 * error for ours. The names are those of the compatible API.
 */
export function logAccess(exchange: Exchange, log: Logger, clock: Clock): void {
  const { incoming } = exchange;
  const { socket } = incoming;
  const writtenBefore = socket.bytesWritten;
  const whence = addresses(exchange); // a closed socket has forgotten
  void exchange.closed.then(() => {
    const status = statusOf(exchange);
    const ms = clock.now() - exchange.arrived;
    const fields = {
      log_type: 'access',
      correlation_id: exchange.id,
      ...whence,
      host: cut(incoming.headers.host),
      uri: cut(incoming.url),
      method: incoming.method,
      path: cut(incoming.url?.split('?')[0]),
      referer: cut(incoming.headers.referer),
      user_agent: cut(incoming.headers['user-agent']),
      status,
      latency: Math.round(ms * 1e6),
      latency_human: `${ms.toFixed(1)}ms`,
      bytes_in: Number(incoming.headers['content-length'] ?? (incoming.headers['transfer-encoding'] ? -1 : 0)),
      bytes_out: socket.bytesWritten - writtenBefore,
      ...engineTimes(exchange),
      ...failureFields(exchange.failure),
    };
    if (status >= 500) log.error(fields, 'request failed');
    else if (status >= 400 && status !== 499) log.warn(fields, 'request refused');
    else log.info(fields, status === 499 ? 'client has gone' : 'request handled');
  });
}

/** The status that its client has got, or the one that it would have; 499 where the client has gone. */
export function statusOf({ outgoing, failure }: Exchange): number {
  return outgoing.writableFinished ? outgoing.statusCode : (failure?.spec.status ?? 499);
}

/** Whom it came from as proxies tell it, where that is an address, and the proxy itself beside it. */
function addresses({ incoming }: Exchange) {
  const { 'x-forwarded-for': forwarded, 'x-real-ip': real } = incoming.headers;
  const told = [forwarded, real].map(firstOf).find(ip => isIP(ip) > 0);
  // An IPv4 client of an IPv6 socket: known by its own address.
  const peer = incoming.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '');
  return told === undefined || told === peer ? { remote_ip: peer } : { remote_ip: told, peer_ip: peer };
}

function firstOf(header: string | string[] | undefined): string {
  return /[^,\s]+/.exec(String(header ?? ''))?.[0] ?? '';
}

/** The longest wait in a queue, and all the time in engines, in ms. */
function engineTimes({ traces }: Exchange) {
  if (traces.length === 0) return {};
  return {
    engine: [...new Set(traces.map(trace => trace.engine))].join(','),
    queue_ms: Math.round(Math.max(...traces.map(trace => trace.queueMs))),
    engine_ms: Math.round(traces.reduce((sum, trace) => sum + trace.runMs, 0)),
    attempts: Math.max(...traces.map(trace => trace.attempts)),
  };
}

function failureFields(failure: Failure | undefined) {
  if (!failure) return {};
  return {
    code: failure.code,
    detail: cut(failure.reply),
    ...otherFacts(failure),
    ...(failure.cause !== undefined && { err: failure.cause }),
  };
}

/** The facts that the text doesn't show. */
function otherFacts({ facts, spec }: Failure) {
  const others = Object.entries(facts)
    .filter(([name]) => !spec.reply.includes(`{${name}}`))
    .map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]);
  return others.length > 0 ? { facts: Object.fromEntries(others) } : {};
}

function cut(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}
