import { copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Soffice } from '../../../modules/libreoffice/soffice.ts';
import { linksOf, pagesOf, sizeOf, textOf } from '../../helpers/pdf.ts';
import { fixture, makeSamples, OfficeBench, python } from './office-bench.ts';

let bench: OfficeBench;
let office: Soffice;
const sample = (name: string) => [name, { file: join(bench.folder, name) }] as const;

beforeAll(async () => {
  bench = await OfficeBench.create();
  await makeSamples(bench.folder);
  office = await bench.started();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('passwords', () => {
  const LOCKED = ['doc', 'docx', 'odp', 'ods', 'odt', 'pptx', 'xls', 'xlsx'].map(extension => `locked.${extension}`);

  test.each(LOCKED)('%s opens with its password, and says whether one is missing or wrong', async name => {
    const pdf = await bench.pdfOf(office, sample(name), { password: 'press' });
    expect(await textOf(pdf)).toMatch(/The press is ready|Paper|First slide/);
    await expect(bench.pdfOf(office, sample(name))).rejects.toThrow(
      `The document '${name}' is password-protected. Provide its password in the 'password' form field.`,
    );
    await expect(bench.pdfOf(office, sample(name), { password: 'guess' })).rejects.toThrow(
      `The password for the document '${name}' is incorrect. Check the 'password' form field.`,
    );
  });

  test.each(['memo.docx', 'sheet.xlsx', 'slides.pptx', 'memo.odt'])('%s needs none, and says so', async name => {
    await expect(bench.pdfOf(office, sample(name), { password: 'guess' })).rejects.toThrow(
      `The document '${name}' is not password-protected. Remove the 'password' form field.`,
    );
  });

  test('formats that know no passwords are converted all the same', async () => {
    expect(await pagesOf(await bench.pdfOf(office, sample('memo.rtf'), { password: 'guess' }))).toBe(1);
  });
});

describe('page ranges', () => {
  test.each([
    ['2', ['two']],
    ['2-3', ['two', 'three']],
    ['1,3', ['one', 'three']],
    ['3-', ['three', 'four']],
    ['3-9', ['three', 'four']],
    [' 1 ; 4 ', ['one', 'four']],
  ])('%s of four pages', async (nativePageRanges, words) => {
    const pdf = await bench.pdfOf(office, fixture('pages.fodt'), { nativePageRanges });
    expect(
      (await textOf(pdf))
        .trim()
        .split(/\s*Page\s+/)
        .filter(Boolean),
    ).toEqual(words);
  });

  test.each(['9', '0', '3-1', 'x', '1 3', '1-2-3', '2,'])('%s is refused with an example', async nativePageRanges => {
    await expect(bench.pdfOf(office, fixture('pages.fodt'), { nativePageRanges })).rejects.toThrow(
      `LibreOffice could not apply the page ranges '${nativePageRanges}' to the document 'pages.fodt'. Check the 'nativePageRanges' form field; valid values look like '1-4', '2' or '1,3,5-7'.`,
    );
  });

  test('they hold for sheets and slides, too', async () => {
    expect(await pagesOf(await bench.pdfOf(office, fixture('slides.fodp'), { nativePageRanges: '2' }))).toBe(1);
    await expect(bench.pdfOf(office, fixture('sheet.fods'), { nativePageRanges: '5' })).rejects.toMatchObject({
      code: 'OFFICE_PAGE_RANGES',
    });
  });
});

describe('layout', () => {
  test.each(['memo.docx', 'sheet.xlsx'])('%s in landscape is wider than high', async name => {
    const upright = await sizeOf(await bench.pdfOf(office, sample(name)));
    const turned = await sizeOf(await bench.pdfOf(office, sample(name), { landscape: 'true' }));
    expect(upright.width).toBeLessThan(upright.height);
    expect(turned.width).toBeCloseTo(upright.height, 0);
    expect(turned.height).toBeCloseTo(upright.width, 0);
  });

  test('links are kept, and changes that are tracked are not shown', async () => {
    expect(await linksOf(await bench.pdfOf(office, sample('memo.docx')))).toEqual(['https://example.org/press']);
    const tracked = await edited('memo.docx', 'word/document.xml', TRACK);
    const text = await textOf(await bench.pdfOf(office, ['tracked.docx', { file: tracked }]));
    expect(text).toContain('inserted');
    expect(text).not.toContain('deleted');
  });

  test('a document with a comment is converted, without the comment', async () => {
    const commented = await edited('memo.docx', 'word/document.xml', COMMENT);
    const text = await textOf(await bench.pdfOf(office, ['commented.docx', { file: commented }]));
    expect(text).toContain('The press is ready.');
    expect(text).not.toContain('a remark');
    expect(office.healthy).toBe(true);
  });

  test('a formula without a stored result is reckoned', async () => {
    const bare = await edited('sheet.xlsx', 'xl/worksheets/sheet1.xml', `return re.sub(r'<v>42</v>', '', text)`);
    expect(await textOf(await bench.pdfOf(office, ['bare.xlsx', { file: bare }]))).toContain('42');
  });

  test('a table of contents is brought up to date unless it shall stay as it is', async () => {
    expect(await textOf(await bench.pdfOf(office, ['toc.fodt', STALE_CONTENTS]))).toMatch(/Chapter\s*\.*\s*1/);
    const stale = await textOf(await bench.pdfOf(office, ['toc.fodt', STALE_CONTENTS], { updateIndexes: 'false' }));
    expect(stale).toContain('old entry');
  });
});

describe('text', () => {
  test.each<[string, Buffer]>([
    ['UTF-8', Buffer.from('Größe in €\nzwei\n')],
    ['UTF-8 with its mark', Buffer.from('\ufeffGröße in €\nzwei\n')],
    ['UTF-16', Buffer.from('\ufeffGröße in €\nzwei\n', 'utf16le')],
    ['Windows-1252', Buffer.from('Gr\xf6\xdfe in \x80\nzwei\n', 'latin1')],
  ])('%s is read as such', async (_, content) => {
    const text = await textOf(await bench.pdfOf(office, ['a.txt', content]));
    expect(text.trim().split(/\s*\n\s*/)).toEqual(['Größe in €', 'zwei']);
  });

  test.each<[string, Buffer]>([
    ['commas', Buffer.from('Größe,Preis\n"a, b",1.5\n')],
    ['semicolons and Windows-1252', Buffer.from('Gr\xf6\xdfe;Preis\r\n"a, b";1.5\r\n', 'latin1')],
    ['tabs and UTF-16', Buffer.from('\ufeffGröße\tPreis\na, b\t1.5\n', 'utf16le')],
    ["Excel's own hint", Buffer.from('sep=|\nGröße|Preis\na, b|1.5\n')],
  ])('rows with %s come out in columns, without the name of the file', async (_, content) => {
    const text = await textOf(await bench.pdfOf(office, ['table.csv', content]));
    expect(text).toMatch(/Größe +Preis\n+ *a, b +1\.5/);
    expect(text).not.toMatch(/table|sep=/);
  });

  test('HTML and rows called .xls are sheets; HTML and RTF called .doc are texts', async () => {
    const html = '<table><tr><td>left</td><td>right</td></tr></table>';
    for (const [name, content] of [
      ['a.xls', html],
      ['b.xls', 'left\tright\n'],
      ['c.doc', html],
      ['d.doc', '{\\rtf1 left right}'],
    ] as const) {
      expect(await textOf(await bench.pdfOf(office, [name, content])), name).toMatch(/left\s+right/);
    }
  });
});

describe('what is sent', () => {
  test.each<[string, string, Buffer | string, string]>([
    ['nothing', 'a.docx', '', "The document 'a.docx' is empty (0 bytes)"],
    ['text', 'a.docx', 'hello', "The content of 'a.docx' is not what its extension says: plain text instead of"],
    ['HTML', 'a.xlsx', '<html>', 'HTML instead of the ZIP package that .xlsx is'],
    ['noise', 'a.odt', Buffer.from([7, 1, 0, 200, 9]), 'binary data instead of'],
    ['noise', 'a.txt', Buffer.from([7, 1, 0, 200, 9]), 'binary data instead of text'],
    ['half a document', 'half.docx', Buffer.from('PK\x03\x04garbage'), "could not read the document 'half.docx'"],
  ])('%s as %s is refused by name', async (_, name, content, words) => {
    await expect(bench.pdfOf(office, [name, content])).rejects.toThrow(words);
  });

  test('a document cut short is refused, and harms no other', async () => {
    const whole = await readFile(join(bench.folder, 'memo.docx'));
    await expect(bench.pdfOf(office, ['cut.docx', whole.subarray(0, 3000)])).rejects.toMatchObject({
      code: 'OFFICE_UNREADABLE',
    });
    expect(await textOf(await bench.pdfOf(office, sample('memo.docx')))).toContain('The press is ready.');
  });

  test('a document under another name of Office is read as what it is', async () => {
    for (const [from, as] of [
      ['memo.doc', 'a.docx'],
      ['sheet.xlsx', 'b.doc'],
      ['memo.odt', 'c.docx'],
      ['drawing.png', 'd.jpg'],
    ] as const) {
      const copy = bench.path(as);
      await copyFile(join(bench.folder, from), copy);
      expect(await pagesOf(await bench.pdfOf(office, [as, { file: copy }])), `${from} as ${as}`).toBe(1);
    }
  });

  test('names that no file may have, or that no shell likes, are as good as others', async () => {
    for (const name of [
      'ä %20 #?&;$(x).txt',
      '.hidden.txt',
      `${'long'.repeat(70)}.txt`,
      'quote\'".txt',
      '\u202efdp.txt',
    ]) {
      expect(await textOf(await bench.pdfOf(office, [name, 'words'])), name).toContain('words');
    }
  });

  test('the document that was sent stays as it was', async () => {
    const file = join(bench.folder, 'memo.odt');
    const [before, modified] = [await readFile(file), (await stat(file)).mtimeMs];
    await bench.pdfOf(office, sample('memo.odt'));
    expect((await readFile(file)).equals(before)).toBe(true);
    expect((await stat(file)).mtimeMs).toBe(modified);
  });
});

test('several documents keep their order and names; merged, they are parts of one plan', async () => {
  const documents = [sample('memo.docx'), ['10.txt', 'ten'] as const, ['9.txt', 'nine'] as const];
  const outputs = await bench.post(office, documents);
  expect(outputs.map(output => output.name)).toEqual(['9.txt.pdf', '10.txt.pdf', 'memo.docx.pdf']);
  expect(await textOf(outputs[0]?.file ?? '')).toContain('nine');
  const merged = await bench.post(office, documents, { merge: 'true' });
  expect(merged).toHaveLength(1);
  expect(bench.merged.at(-1)?.inputs.map(input => input.name)).toEqual(['9.txt', '10.txt', 'memo.docx']);
  expect(bench.merged.at(-1)?.output).toBe(merged[0]?.file);
});

/** A copy of a zipped sample with one entry changed by a Python function body: `text` is its content. */
async function edited(name: string, entry: string, body: string): Promise<string> {
  const target = bench.path(name);
  await python(
    EDIT,
    join(bench.folder, name),
    target,
    entry,
    `def change(text, write):\n  ${body.replaceAll('\n', '\n  ')}`,
  );
  return target;
}

const EDIT = `
import re, sys, zipfile
source, target, entry, body = sys.argv[1:]
scope = {"re": re}
exec(body, scope)
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
    changed = {}
    changed[entry] = scope["change"](old.read(entry).decode(), lambda name, text: changed.__setitem__(name, text))
    for name in {**dict.fromkeys(old.namelist()), **changed}:
        content = changed.get(name)
        if content is None:
            content = old.read(name).decode("latin1").encode("latin1")
        if name == "[Content_Types].xml" and "word/comments.xml" in changed:
            kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
            content = content.replace(b"</Types>", f'<Override PartName="/word/comments.xml" ContentType="{kind}"/></Types>'.encode())
        if name == "word/_rels/document.xml.rels" and "word/comments.xml" in changed:
            kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"
            content = content.replace(b"</Relationships>", f'<Relationship Id="rIdC" Type="{kind}" Target="comments.xml"/></Relationships>'.encode())
        new.writestr(name, content)
`;

const TRACK = `
mark = 'w:id="1" w:author="A" w:date="2024-01-01T00:00:00Z"'
ins = f'<w:ins {mark}><w:r><w:t>inserted</w:t></w:r></w:ins>'
gone = f'<w:del {mark}><w:r><w:delText>deleted</w:delText></w:r></w:del>'
return text.replace('</w:p>', ins + gone + '</w:p>', 1)`;

const COMMENT = `
space = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
note = '<w:comment w:id="0" w:author="A"><w:p><w:r><w:t>a remark</w:t></w:r></w:p></w:comment>'
write('word/comments.xml', f'<w:comments xmlns:w="{space}">{note}</w:comments>')
run = '<w:commentRangeStart w:id="0"/><w:r><w:t>marked</w:t></w:r><w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
return text.replace('</w:p>', run + '</w:p>', 1)`;

const STALE_CONTENTS = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>
<text:table-of-content text:name="Contents"><text:table-of-content-source text:outline-level="1"><text:table-of-content-entry-template text:outline-level="1">
<text:index-entry-text/><text:index-entry-tab-stop style:type="right" style:leader-char="." xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"/><text:index-entry-page-number/></text:table-of-content-entry-template></text:table-of-content-source>
<text:index-body><text:p>old entry</text:p></text:index-body></text:table-of-content>
<text:h text:outline-level="1">Chapter</text:h></office:text></office:body></office:document>`;
