import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pagesOf, sizeOf, textOf } from '../../helpers/pdf.ts';
import { failure, oneLine, Room } from './room.ts';

const run = promisify(execFile);
let room: Room;
beforeAll(async () => {
  room = await Room.open({ lanes: 2 });
});
afterAll(() => room[Symbol.asyncDispose]());

/** Chromium rounds paper to whole CSS pixels. */
const PIXEL = 0.75;

async function expectSize(pdf: string, width: number, height: number): Promise<void> {
  const size = await sizeOf(pdf);
  expect(Math.abs(size.width - width), `width ${size.width}`).toBeLessThanOrEqual(PIXEL);
  expect(Math.abs(size.height - height), `height ${size.height}`).toBeLessThanOrEqual(PIXEL);
}

/** The first page's box of what isn't white, in points from the left and the top, looked at with 72 dots per inch. */
async function inkOf(
  pdf: string,
): Promise<{ left: number; top: number; right: number; bottom: number; colours: Set<string> }> {
  const { stdout } = await run(
    '/usr/bin/pdftoppm',
    ['-r', '72', '-aa', 'no', '-aaVector', 'no', '-f', '1', '-l', '1', pdf],
    {
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const [head = '', width = 0, height = 0] = sizeFromHead(stdout);
  const box = { left: width, top: height, right: 0, bottom: 0, colours: new Set<string>() };
  const pixels = stdout.subarray(head.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).toString('hex');
      if (colour === 'ffffff') continue;
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x + 1);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y + 1);
      box.colours.add(colour);
    }
  }
  return box;
}

function sizeFromHead(ppm: Buffer): [string, number, number] {
  const match = /^P6\n(\d+) (\d+)\n255\n/.exec(ppm.subarray(0, 40).toString('latin1'));
  return [match?.[0] ?? '', Number(match?.[1]), Number(match?.[2])];
}

const THREE = [1, 2, 3].map(n => `<h1 style="break-after:${n < 3 ? 'page' : 'auto'}">sheet ${n}</h1>`).join('');
const FULL = '<style>body{margin:0}div{background:#ff0000;height:3000px}</style><div></div>';

describe('paper', () => {
  test('is US Letter unless asked otherwise, and A4 where asked', async () => {
    await expectSize(await room.print('x'), 612, 792);
    await expectSize(await room.print('x', { paperWidth: 8.27, paperHeight: 11.7 }), 595.44, 842.4);
  });

  test('turned, it has its sides swapped', async () => {
    await expectSize(await room.print('x', { landscape: true }), 792, 612);
  });

  test('keeps the margins free', async () => {
    const ink = await inkOf(
      await room.print(FULL, {
        printBackground: true,
        marginTop: 1,
        marginBottom: 2,
        marginLeft: 0.5,
        marginRight: 1.5,
      }),
    );
    expect(Math.abs(ink.left - 36)).toBeLessThanOrEqual(1);
    expect(Math.abs(ink.top - 72)).toBeLessThanOrEqual(1);
    expect(Math.abs(ink.right - (612 - 108))).toBeLessThanOrEqual(1);
    expect(Math.abs(ink.bottom - (792 - 144))).toBeLessThanOrEqual(1);
  });

  test('without margins it is printed to the edges', async () => {
    const none = { marginTop: 0, marginBottom: 0, marginLeft: 0, marginRight: 0 };
    expect(await inkOf(await room.print(FULL, { printBackground: true, ...none }))).toMatchObject({
      left: 0,
      top: 0,
      right: 612,
      bottom: 792,
    });
  });

  test('follows the page’s own @page size only where that is preferred', async () => {
    const page = '<style>@page{size:50mm 100mm}</style>x';
    await expectSize(await room.print(page, { preferCssPageSize: true }), 141.73, 283.46);
    await expectSize(await room.print(page), 612, 792);
    // Chromium follows the page in which way the paper lies, all the same.
    await expectSize(await room.print('<style>@page{size:landscape}</style>x'), 792, 612);
  });

  test('scale makes the content smaller, and not the paper', async () => {
    const box = '<style>body{margin:0}div{background:#f00;width:2in;height:2in}</style><div></div>';
    const one = await inkOf(await room.print(box, { printBackground: true }));
    const pdf = await room.print(box, { printBackground: true, scale: 0.5 });
    const half = await inkOf(pdf);
    expect(Math.abs(one.right - one.left - 144)).toBeLessThanOrEqual(1);
    expect(Math.abs(half.right - half.left - 72)).toBeLessThanOrEqual(1);
    await expectSize(pdf, 612, 792);
  });
});

describe('backgrounds', () => {
  const body = '<style>html{background:#00ff00}body{background:#00ff00}p{background:#ff0000;height:50px}</style><p>';

  test('are printed where asked', async () => {
    const { colours } = await inkOf(await room.print(body, { printBackground: true }));
    expect(colours).toContain('00ff00');
    expect(colours).toContain('ff0000');
  });

  test('of the whole page are left out otherwise; those of elements are printed, as in the compatible API', async () => {
    const { colours } = await inkOf(await room.print(body));
    expect(colours).not.toContain('00ff00');
  });

  test('colours are those that were asked for', async () => {
    const { colours } = await inkOf(await room.print('<div style="border:20px solid #123456">'));
    expect([...colours]).toEqual(['123456']);
  });
});

describe('which pages', () => {
  test('all, or those of the ranges, in their order', async () => {
    expect(await pagesOf(await room.print(THREE))).toBe(3);
    const some = await room.print(THREE, { pageRanges: '1,3' });
    expect([await pagesOf(some), oneLine(await textOf(some))]).toEqual([2, 'sheet 1 sheet 3']);
    expect(await room.say(THREE, { pageRanges: '2-' })).toBe('sheet 2 sheet 3');
  });

  test('ranges beyond the end, or that are none, are the client’s fault', async () => {
    expect(await failure(room.print(THREE, { pageRanges: '4' }))).toMatchObject({ code: 'PAGE_RANGES_BEYOND' });
    expect(await failure(room.print(THREE, { pageRanges: 'foo' }))).toMatchObject({ code: 'PAGE_RANGES_SYNTAX' });
    expect(await failure(room.print(THREE, { pageRanges: '3-1' }))).toMatchObject({ code: 'PAGE_RANGES_SYNTAX' });
  });

  test('margins that leave no room are the client’s fault, and the lane prints on', async () => {
    expect(await failure(room.print('x', { marginLeft: 5, marginRight: 5 }))).toMatchObject({ code: 'PRINT_SETTINGS' });
    expect(await room.say('still here')).toBe('still here');
  });
});

describe('one page for everything', () => {
  const long = Array.from({ length: 200 }, (_, n) => `<p>line ${n + 1}.</p>`).join('');

  test('is as high as the content and has all of it', async () => {
    const pdf = await room.print(long, { singlePage: true });
    const text = oneLine(await textOf(pdf));
    expect(await pagesOf(pdf)).toBe(1);
    expect(text).toContain('line 1.');
    expect(text).toContain('line 200.');
    const { width, height } = await sizeOf(pdf);
    expect(width).toBe(612);
    expect(height).toBeGreaterThan(792 * 4);
  });

  test('has all of it where the paper is narrower than a window, and the text breaks more often', async () => {
    const words = `<p>${'word '.repeat(2000)}</p><p>the end.</p>`;
    const pdf = await room.print(words, { singlePage: true, paperWidth: 3 });
    expect(await pagesOf(pdf)).toBe(1);
    expect(oneLine(await textOf(pdf))).toContain('the end.');
  });

  test('ignores ranges, and is turned as the compatible API does', async () => {
    const pdf = await room.print(long, { singlePage: true, landscape: true, pageRanges: '7' });
    const { width, height } = await sizeOf(pdf);
    expect(await pagesOf(pdf)).toBe(1);
    expect(height).toBeGreaterThan(width);
  });

  test('of a page that the one before has resized is its own', async () => {
    await room.print(long, { singlePage: true, paperWidth: 3 });
    expect(await room.say('<p id=o><script>o.textContent = innerWidth + "x" + innerHeight</script>')).toBe('780x437');
  });
});

describe('header and footer', () => {
  test('are on every page, with numbers, and nothing else is there', async () => {
    const pdf = await room.print(THREE, {
      marginTop: 1,
      marginBottom: 1,
      header: '<html><body><div style="font-size:10px">top of <span class="title"></span></div></body></html>',
      footer:
        '<html><body><div style="font-size:10px">page <span class="pageNumber"></span> of <span class="totalPages"></span></div></body></html>',
    });
    const text = oneLine(await textOf(pdf));
    expect(text).toContain('top of t');
    for (const n of [1, 2, 3]) expect(text).toContain(`page ${n} of 3`);
  });

  test('a footer alone brings no header along', async () => {
    const text = await room.say('body.', {
      marginTop: 1,
      marginBottom: 1,
      footer: '<p style="font-size:10px">below</p>',
    });
    expect(text).toBe('body. below');
  });

  test('run no scripts', async () => {
    const header =
      '<p style="font-size:10px" id="h">quiet</p><script>document.getElementById("h").textContent="loud"</script>';
    expect(await room.say('x', { marginTop: 1, header })).toBe('quiet x');
  });
});

test('media is print unless asked for, and is forgotten for the next page', async () => {
  const page =
    '<style>p::before{content:"?"}@media screen{p::before{content:"screen"}}@media print{p::before{content:"print"}}</style><p>';
  expect(await room.say(page)).toBe('print');
  expect(await room.say(page, { media: 'screen' })).toBe('screen');
  expect(await room.say(page)).toBe('print');
  expect(await room.say(page, { media: 'print' })).toBe('print');
});

test('a large PDF arrives whole', async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => `<p>${n} ${Math.sin(n + 1)}</p>`).join('');
  const pdf = await room.print(rows);
  const bytes = await readFile(pdf);
  expect(bytes.length).toBeGreaterThan(600_000);
  expect(bytes.subarray(-6).toString('latin1')).toContain('%%EOF');
  expect(await textOf(pdf)).toContain('19999 ');
});
