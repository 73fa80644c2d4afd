import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { Failure } from '../failure/failure.ts';
import type { RequestFacts } from '../observe/metrics.ts';
import type { ApiSettings } from '../settings/kernel-settings.ts';
import type { Clock } from '../time/clock.ts';
import { logAccess, statusOf } from './access-log.ts';
import { type ConversionKernel, serveConversion } from './conversion.ts';
import { correlationId } from './correlation-id.ts';
import { Exchange } from './exchange.ts';
import type { Route } from './route.ts';

export interface AppOptions extends ConversionKernel {
  readonly settings: ApiSettings;
  readonly routes: readonly Route[];
  /** Is told of each request when its connection has nothing more to say. */
  readonly observe?: (request: RequestFacts) => void;
}

export interface App {
  readonly listener: RequestListener;
  /** For requests whose clients hold their body back until they hear that it is wanted. */
  readonly continueListener: RequestListener;
}

/**
 * The routes behind one listener: ids, access log, methods, and an answer for everything that can go wrong.
 * @throws an Error where two routes have the same path
 */
export function createApp(options: AppOptions): App {
  const { clock, log, settings, traffic } = options;
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const exchangeOf = (c: Context<Env>) => exchanges.get(c.env.incoming) as Exchange;
  const { hono, quietPaths } = routed(options, exchangeOf);
  const serve = getRequestListener((request, bindings) => hono.fetch(request, bindings), {
    autoCleanupIncoming: false,
    overrideGlobalObjects: false,
  });
  const accept = (incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean) => {
    const given = incoming.headers[settings.correlationIdHeader.toLowerCase()];
    const exchange = new Exchange({ id: correlationId(given), incoming, outgoing, clock, awaitsContinue });
    exchanges.set(incoming, exchange);
    outgoing.setHeader(settings.correlationIdHeader, exchange.id);
    if (traffic.stopping) outgoing.setHeader('Connection', 'close');
    if (!quietPaths.has(incoming.url ?? '')) logAccess(exchange, log, clock);
    if (options.observe) observed(exchange, clock, options.observe);
    const presence = traffic.enter();
    void exchange.closed.then(() => presence[Symbol.dispose]());
    void serve(incoming, outgoing);
  };
  return {
    listener: (incoming, outgoing) => accept(incoming, outgoing, false),
    continueListener: (incoming, outgoing) => accept(incoming, outgoing, true),
  };
}

function observed(exchange: Exchange, clock: Clock, observe: (request: RequestFacts) => void): void {
  const { incoming } = exchange;
  const { socket } = incoming;
  const writtenBefore = socket.bytesWritten;
  void exchange.closed.then(() =>
    observe({
      route: exchange.route,
      method: incoming.method,
      status: statusOf(exchange),
      ms: clock.now() - exchange.arrived,
      bytesIn: Number(incoming.headers['content-length'] ?? 0),
      bytesOut: socket.bytesWritten - writtenBefore,
    }),
  );
}

interface Env {
  Bindings: HttpBindings;
}

function routed(options: AppOptions, exchangeOf: (c: Context<Env>) => Exchange) {
  const hono = new Hono<Env>();
  const root = options.settings.rootPath.slice(0, -1);
  const taken = new Set<string>();
  const quietPaths = new Set<string>();
  for (const route of options.routes) {
    const path = root + route.path;
    if (taken.has(path)) throw new Error(`two routes have the path ${path}`);
    taken.add(path);
    if (route.kind === 'plain' && route.quiet) quietPaths.add(path);
    hono.all(path, c => {
      const exchange = exchangeOf(c);
      exchange.route = route.path;
      return answer(route, c, exchange, options);
    });
  }
  const fail = (c: Context<Env>, error: unknown) => alreadySent(exchangeOf(c).fail(error));
  hono.notFound(c => fail(c, new Failure('NOT_FOUND')));
  hono.onError((error, c) => fail(c, error));
  return { hono, quietPaths };
}

function answer(route: Route, c: Context<Env>, exchange: Exchange, options: AppOptions): Response | Promise<Response> {
  const methods = route.kind === 'conversion' ? ['POST'] : route.head ? ['GET', 'HEAD'] : ['GET'];
  const { method } = exchange.incoming;
  if (method && methods.includes(method)) {
    return route.kind === 'plain' ? route.handle(c as Context) : converted(route, exchange, options);
  }
  exchange.outgoing.setHeader('Allow', ['OPTIONS', ...methods].join(', '));
  if (method === 'OPTIONS') return alreadySent(exchange.end({ status: 204, headers: {}, body: '' }));
  return alreadySent(exchange.fail(new Failure('METHOD_NOT_ALLOWED')));
}

/** The request counts as present until its folder is gone, not only until its answer is sent. */
async function converted(
  route: Extract<Route, { kind: 'conversion' }>,
  exchange: Exchange,
  options: AppOptions,
): Promise<Response> {
  using _presence = options.traffic.enter();
  return await alreadySent(serveConversion(route, exchange, options));
}

async function alreadySent(sending: Promise<void>): Promise<Response> {
  await sending;
  return RESPONSE_ALREADY_SENT;
}
