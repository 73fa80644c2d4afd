/*
 * What a document's bytes can turn out to be, and who reads it then. Names of filters as LibreOffice registers them
 * (com.sun.star.document.FilterFactory); the same in 7.4 and 25.2.
 */

interface ContentKind {
  /** For people: `a PDF`. */
  readonly is: string;
  /**
   * Import filters for it, whatever the file is called; of several, LibreOffice's own detection finds the right one.
   * Absent: the content alone doesn't tell, the extension does. Empty: LibreOffice reads no such thing.
   */
  readonly filters?: readonly string[];
}

/** Templates and shows are types of their own in LibreOffice, told by the extension. */
export const OLE2_TEXT = ['MS Word 97', 'MS Word 95', 'MS WinWord 6.0', 'MS Word 97 Vorlage', 'MS Word 95 Vorlage'];
export const OLE2_SHEET = [
  'MS Excel 97',
  'MS Excel 95',
  'MS Excel 5.0/95',
  'MS Excel 97 Vorlage/Template',
  'MS Excel 95 Vorlage/Template',
  'MS Excel 5.0/95 Vorlage/Template',
];
export const OLE2_SLIDES = ['MS PowerPoint 97', 'MS PowerPoint 97 Vorlage', 'MS PowerPoint 97 AutoPlay'];

const RASTER = (name: string, filter: string): ContentKind => ({ is: name, filters: [filter] });

export const CONTENTS = {
  empty: { is: 'nothing' },
  binary: { is: 'binary data' },
  text: { is: 'plain text' },
  html: { is: 'HTML' },
  rtf: { is: 'RTF' },
  xml: { is: 'XML' },
  zip: { is: 'a ZIP archive' },
  ole2: { is: 'an OLE2 file' },
  gzip: { is: 'gzip data' },

  'ooxml-text': { is: 'a Word document', filters: ['MS Word 2007 XML'] },
  'ooxml-sheet': { is: 'an Excel workbook', filters: ['Calc MS Excel 2007 XML'] },
  'ooxml-binary-sheet': { is: 'a binary Excel workbook', filters: ['Calc MS Excel 2007 Binary'] },
  'ooxml-slides': { is: 'a PowerPoint presentation', filters: ['Impress MS PowerPoint 2007 XML'] },
  'ooxml-visio': { is: 'a Visio drawing', filters: ['Visio Document'] },
  /** OOXML that is protected by a password: what it holds can't be seen from outside. */
  'ooxml-encrypted': { is: 'an encrypted Office document' },
  'odf-text': { is: 'an OpenDocument text', filters: ['writer8'] },
  'odf-master': { is: 'an OpenDocument master document', filters: ['writerglobal8'] },
  'odf-web': { is: 'an OpenDocument HTML template', filters: ['writerweb8_writer_template'] },
  'odf-sheet': { is: 'an OpenDocument spreadsheet', filters: ['calc8'] },
  'odf-slides': { is: 'an OpenDocument presentation', filters: ['impress8'] },
  'odf-drawing': { is: 'an OpenDocument drawing', filters: ['draw8'] },
  'odf-formula': { is: 'an OpenDocument formula', filters: ['math8'] },
  'sxw-text': { is: 'an OpenOffice.org 1.0 text', filters: ['StarOffice XML (Writer)'] },
  'sxw-master': {
    is: 'an OpenOffice.org 1.0 master document',
    filters: ['writer_globaldocument_StarOffice_XML_Writer_GlobalDocument'],
  },
  'sxw-sheet': { is: 'an OpenOffice.org 1.0 spreadsheet', filters: ['StarOffice XML (Calc)'] },
  'sxw-slides': { is: 'an OpenOffice.org 1.0 presentation', filters: ['StarOffice XML (Impress)'] },
  'sxw-drawing': { is: 'an OpenOffice.org 1.0 drawing', filters: ['StarOffice XML (Draw)'] },
  'sxw-formula': { is: 'an OpenOffice.org 1.0 formula', filters: ['StarOffice XML (Math)'] },
  epub: { is: 'an EPUB book', filters: [] },

  'ole2-text': { is: 'a Word 97 document', filters: OLE2_TEXT },
  'ole2-sheet': { is: 'an Excel 97 workbook', filters: OLE2_SHEET },
  'ole2-slides': { is: 'a PowerPoint 97 presentation', filters: OLE2_SLIDES },
  'ole2-visio': { is: 'a Visio drawing', filters: ['Visio Document'] },
  'ole2-publisher': { is: 'a Publisher document', filters: ['Publisher Document'] },
  'staroffice-text': { is: 'a StarOffice text', filters: ['StarOffice_Writer'] },
  'staroffice-sheet': { is: 'a StarOffice spreadsheet', filters: ['StarOffice_Spreadsheet'] },
  'staroffice-drawing': {
    is: 'a StarOffice drawing or presentation',
    filters: ['StarOffice_Presentation', 'StarOffice_Drawing'],
  },

  'flat-text': { is: 'a flat OpenDocument text', filters: ['OpenDocument Text Flat XML'] },
  'flat-sheet': { is: 'a flat OpenDocument spreadsheet', filters: ['OpenDocument Spreadsheet Flat XML'] },
  'flat-slides': { is: 'a flat OpenDocument presentation', filters: ['OpenDocument Presentation Flat XML'] },
  'flat-drawing': { is: 'a flat OpenDocument drawing', filters: ['OpenDocument Drawing Flat XML'] },
  'word-xml': { is: 'a Word 2003 XML document', filters: ['MS Word 2003 XML'] },
  'excel-xml': { is: 'an Excel 2003 XML workbook', filters: ['MS Excel 2003 XML Orcus'] },
  'visio-xml': { is: 'a Visio XML drawing', filters: ['Visio Document'] },
  abiword: { is: 'an AbiWord document', filters: ['AbiWord'] },
  docbook: { is: 'a DocBook document', filters: ['DocBook File'] },
  mathml: { is: 'MathML', filters: ['MathML XML (Math)'] },
  uof: { is: 'a Unified Office Format document', filters: ['UOF text', 'UOF spreadsheet', 'UOF presentation'] },

  pdf: { is: 'a PDF', filters: ['draw_pdf_import'] },
  svg: RASTER('an SVG picture', 'SVG - Scalable Vector Graphics Draw'),
  png: RASTER('a PNG picture', 'PNG - Portable Network Graphic'),
  jpeg: RASTER('a JPEG picture', 'JPG - JPEG'),
  gif: RASTER('a GIF picture', 'GIF - Graphics Interchange'),
  bmp: RASTER('a BMP picture', 'BMP - MS Windows'),
  tiff: RASTER('a TIFF picture', 'TIF - Tag Image File'),
  psd: RASTER('a Photoshop picture', 'PSD - Adobe Photoshop'),
  emf: RASTER('an EMF picture', 'EMF - MS Windows Metafile'),
  wmf: RASTER('a WMF picture', 'WMF - MS Windows Metafile'),
  /** It can be shown by its preview only: rendering it would take programs that are no part of LibreOffice. */
  postscript: { is: 'PostScript without a preview picture', filters: [] },
  eps: RASTER('PostScript with a preview picture', 'EPS - Encapsulated PostScript'),
} as const satisfies Record<string, ContentKind>;

export type Content = keyof typeof CONTENTS;

/** What it is in words, with its article. */
export function describeContent(content: Content): string {
  return CONTENTS[content].is;
}

/** Import filters that the content decides by itself; undefined where it doesn't. */
export function filtersOf(content: Content): readonly string[] | undefined {
  const kind: ContentKind = CONTENTS[content];
  return kind.filters;
}

/** Whether it could be a document of a zipped format, or one of those encrypted. */
export function isPackage(content: Content): boolean {
  return /^(zip|ole2|ooxml|odf|sxw|epub)/.test(content);
}
