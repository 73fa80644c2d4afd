// What the load scripts share: the three conversions, what counts as right, and the summary.
import { check } from 'k6';
import http from 'k6/http';

const ADDRESS = __ENV.PLATEN_URL || 'http://localhost:3000';
const FIXTURES = import.meta.resolve('../../fixtures/');
const read = path => new Uint8Array(open(FIXTURES + path, 'b'));

const forms = {
  html: multipart({ 'index.html': read('load/index.html'), 'style.css': read('load/style.css') }),
  office: multipart({ 'memo.docx': read('load/memo.docx') }),
  merge: multipart({ '1.pdf': read('pdf/letter.pdf'), '2.pdf': read('pdf/letter.pdf') }),
};

export const html = () => post('html', '/forms/chromium/convert/html');
export const office = () => post('office', '/forms/libreoffice/convert');
export const merge = () => post('merge', '/forms/pdfengines/merge');

/** How many clients, and how long; each script has its own default. */
export const clients = fallback => Number(__ENV.CLIENTS || fallback);
export const duration = __ENV.DURATION || '30s';

/**
 * Thresholds for some kinds of work: every answer right, and 95 of 100 within a limit in ms.
 * @param {Record<string, number>} limits
 */
export function thresholds(limits) {
  const perKind = Object.entries(limits).map(([kind, ms]) => [
    `http_req_duration{kind:${kind}}`,
    [{ threshold: `p(95)<${__ENV.P95 || ms}` }],
  ]);
  return { checks: ['rate==1'], ...Object.fromEntries(perKind) };
}

/** One line a kind of work, then what the thresholds say. */
export function handleSummary(data) {
  const lines = ['', line('work', 'p50 ms', 'p95 ms', 'max ms', 'limit')];
  let broken = 0;
  for (const [name, { values, thresholds: limits = {} }] of Object.entries(data.metrics)) {
    const [, kind] = /^http_req_duration\{kind:(\w+)\}$/.exec(name) || [];
    const [[limit, verdict] = []] = Object.entries(limits);
    if (verdict && !verdict.ok) broken += 1;
    if (!kind) continue;
    const times = [values.med, values['p(95)'], values.max].map(ms => ms.toFixed(0));
    lines.push(line(kind, ...times, `${limit} ${verdict.ok ? 'kept' : 'BROKEN'}`));
  }
  const { http_reqs: requests, checks } = data.metrics;
  lines.push('', `${requests.values.count} requests, ${requests.values.rate.toFixed(1)} /s`);
  lines.push(`${checks.values.passes} right, ${checks.values.fails} wrong`);
  lines.push(broken ? `${broken} of the thresholds BROKEN` : 'all thresholds kept', '');
  return { stdout: lines.join('\n') };
}

function post(kind, path) {
  const { body, headers } = forms[kind];
  const answer = http.post(ADDRESS + path, body, { headers, responseType: 'binary', tags: { kind }, timeout: '60s' });
  const isRight = check(answer, { 'a PDF with status 200': ({ status, body }) => status === 200 && startsAsPdf(body) });
  if (!isRight) console.error(`${kind}: ${answer.status} ${answer.error} ${answer.headers['Gotenberg-Trace'] || ''}`);
}

/** The form as bytes, made once: k6 would make it anew for each request, and takes one file a field. */
function multipart(files) {
  const boundary = 'platen-load';
  const pieces = Object.entries(files).flatMap(([name, content]) => [
    ascii(`--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`),
    content,
    ascii('\r\n'),
  ]);
  pieces.push(ascii(`--${boundary}--\r\n`));
  const body = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return { body: body.buffer, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };
}

function ascii(text) {
  return Uint8Array.from([...text], character => character.charCodeAt(0));
}

function startsAsPdf(body) {
  const [a, b, c, d] = new Uint8Array(body || new ArrayBuffer(0), 0, body ? 4 : 0);
  return a === 0x25 && b === 0x50 && c === 0x44 && d === 0x46;
}

function line(first, ...rest) {
  return first.padEnd(10) + rest.map((cell, index) => (index < 3 ? cell.padStart(9) : `   ${cell}`)).join('');
}
