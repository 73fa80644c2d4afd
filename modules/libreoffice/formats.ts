import type { Content } from './contents.ts';
import { filtersOf, isPackage, OLE2_SHEET, OLE2_SLIDES, OLE2_TEXT } from './contents.ts';

/** The kinds of document that differ in how they are read. */
type Nature =
  /** A zipped format: content that is neither ZIP nor OLE2 can't be one. */
  | 'package'
  /** Read as lines of text, whatever they look like. */
  | 'text'
  /** Read as rows of cells. */
  | 'rows'
  /** A spreadsheet format for which programs also write HTML tables and rows of text. */
  | 'sheet'
  /** A text format for which programs also write plain text. */
  | 'letter'
  | 'any';

interface Format {
  readonly nature: Nature;
  /** Import filters for what its content alone doesn't tell. Empty: LibreOffice has none. */
  readonly filters: readonly string[];
}

const TEXT = 'Text (encoded)';
const ROWS = 'Text - txt - csv (StarCalc)';

const format = (nature: Nature, ...filters: readonly string[]): Format => ({ nature, filters });
const any = (...filters: readonly string[]): Format => format('any', ...filters);
const WORD = format('package', 'MS Word 2007 XML');
const EXCEL = format('package', 'Calc MS Excel 2007 XML');
const POWERPOINT = format('package', 'Impress MS PowerPoint 2007 XML');
const VISIO = any('Visio Document');
const OLD_WORD = format('letter', ...OLE2_TEXT, 'MS WinWord 5', 'Mac_Word', 'DosWord');
const OLD_EXCEL = format('sheet', ...OLE2_SHEET, 'MS Excel 4.0', 'MS Excel 4.0 Vorlage/Template');
const OLD_POWERPOINT = any(...OLE2_SLIDES, 'PowerPoint 3');
const WRITER = format('package', 'writer8');
const CALC = format('package', 'calc8');
const IMPRESS = format('package', 'impress8');
const DRAW = format('package', 'draw8');
const HTML = any('HTML');
const LINES = format('text', TEXT);
const UNREADABLE = any();

/**
 * Every extension that is accepted, in the order in which the compatible API lists them. A document's content goes
 * before its name: these filters are for what the content leaves open.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  '.123': any('Lotus', 'WPS_Lotus_Calc'),
  '.602': any('T602Document'),
  '.abw': any('AbiWord'),
  '.bib': LINES,
  '.bmp': any('BMP - MS Windows'),
  '.cdr': any('Corel Draw Document'),
  '.cgm': any('CGM - Computer Graphics Metafile'),
  '.cmx': any('Corel Presentation Exchange'),
  '.csv': format('rows', ROWS),
  '.cwk': any('ClarisWorks', 'ClarisWorks_Calc', 'ClarisWorks_Draw', 'ClarisWorks_Impress', 'Claris_Resolve_Calc'),
  '.dbf': any('dBase'),
  '.dif': any('DIF'),
  '.doc': OLD_WORD,
  '.docm': WORD,
  '.docx': WORD,
  '.dot': OLD_WORD,
  '.dotm': WORD,
  '.dotx': WORD,
  '.dxf': any('DXF - AutoCAD Interchange'),
  '.emf': any('EMF - MS Windows Metafile'),
  '.eps': any('EPS - Encapsulated PostScript'),
  '.epub': format('package'),
  '.fodg': any('OpenDocument Drawing Flat XML'),
  '.fodp': any('OpenDocument Presentation Flat XML'),
  '.fods': any('OpenDocument Spreadsheet Flat XML'),
  '.fodt': any('OpenDocument Text Flat XML'),
  '.fopd': any('OpenDocument Presentation Flat XML'),
  '.gif': any('GIF - Graphics Interchange'),
  '.htm': HTML,
  '.html': HTML,
  '.hwp': any('writer_MIZI_Hwp_97'),
  '.jpeg': any('JPG - JPEG'),
  '.jpg': any('JPG - JPEG'),
  '.key': any('Apple Keynote'),
  '.ltx': LINES,
  '.lwp': any('LotusWordPro'),
  '.mcw': any('MacWrite', 'Mac_Word'),
  '.met': any('MET - OS/2 Metafile'),
  '.mml': any('MathML XML (Math)'),
  '.mw': any('MacWrite'),
  '.numbers': any('Apple Numbers'),
  '.odd': DRAW,
  '.odg': DRAW,
  '.odm': format('package', 'writerglobal8'),
  '.odp': IMPRESS,
  '.ods': CALC,
  '.odt': WRITER,
  '.otg': DRAW,
  '.oth': format('package', 'writerweb8_writer_template'),
  '.otp': IMPRESS,
  '.ots': CALC,
  '.ott': WRITER,
  '.pages': any('Apple Pages'),
  '.pbm': any('PBM - Portable Bitmap'),
  '.pcd': any('draw_PCD_Photo_CD_Base', 'draw_PCD_Photo_CD_Base4', 'draw_PCD_Photo_CD_Base16'),
  '.pct': any('PCT - Mac Pict'),
  '.pcx': any('PCX - Zsoft Paintbrush'),
  '.pdb': any('PalmDoc', 'Plucker eBook', 'Palm_Text_Document'),
  '.pdf': any('draw_pdf_import'),
  '.pgm': any('PGM - Portable Graymap'),
  '.png': any('PNG - Portable Network Graphic'),
  '.pot': OLD_POWERPOINT,
  '.potm': POWERPOINT,
  '.potx': POWERPOINT,
  '.ppm': any('PPM - Portable Pixelmap'),
  '.pps': OLD_POWERPOINT,
  '.ppsm': POWERPOINT,
  '.ppsx': POWERPOINT,
  '.ppt': OLD_POWERPOINT,
  '.pptm': POWERPOINT,
  '.pptx': POWERPOINT,
  '.psd': any('PSD - Adobe Photoshop'),
  '.psw': any('PocketWord File'),
  '.pub': any('Publisher Document'),
  '.pwp': UNREADABLE,
  '.pxl': UNREADABLE,
  '.ras': any('RAS - Sun Rasterfile'),
  '.rtf': format('letter', 'Rich Text Format'),
  '.sda': any('StarOffice_Drawing', 'StarOffice_Presentation'),
  '.sdc': any('StarOffice_Spreadsheet'),
  '.sdd': any('StarOffice_Presentation', 'StarOffice_Drawing'),
  '.sdp': any('StarOffice_Presentation', 'StarOffice_Drawing'),
  '.sdw': any('StarOffice_Writer'),
  '.sgl': any('StarOffice_Writer'),
  '.slk': any('SYLK'),
  '.smf': UNREADABLE,
  '.stc': format('package', 'StarOffice XML (Calc)'),
  '.std': format('package', 'StarOffice XML (Draw)'),
  '.sti': format('package', 'StarOffice XML (Impress)'),
  '.stw': format('package', 'StarOffice XML (Writer)'),
  '.svg': any('SVG - Scalable Vector Graphics Draw'),
  '.svm': any('SVM - StarView Metafile'),
  '.swf': UNREADABLE,
  '.sxc': format('package', 'StarOffice XML (Calc)'),
  '.sxd': format('package', 'StarOffice XML (Draw)'),
  '.sxg': format('package', 'writer_globaldocument_StarOffice_XML_Writer_GlobalDocument'),
  '.sxi': format('package', 'StarOffice XML (Impress)'),
  '.sxm': format('package', 'StarOffice XML (Math)'),
  '.sxw': format('package', 'StarOffice XML (Writer)'),
  '.tga': any('TGA - Truevision TARGA'),
  '.tif': any('TIF - Tag Image File'),
  '.tiff': any('TIF - Tag Image File'),
  '.txt': LINES,
  '.uof': any('UOF text', 'UOF spreadsheet', 'UOF presentation'),
  '.uop': any('UOF presentation'),
  '.uos': any('UOF spreadsheet'),
  '.uot': any('UOF text'),
  '.vdx': VISIO,
  '.vor': any('StarOffice_Writer', 'StarOffice_Spreadsheet', 'StarOffice_Presentation', 'StarOffice_Drawing'),
  '.vsd': VISIO,
  '.vsdm': format('package', 'Visio Document'),
  '.vsdx': format('package', 'Visio Document'),
  '.wb2': any('Quattro Pro 6.0', 'WPS_QPro_Calc'),
  '.wk1': any('Lotus', 'WPS_Lotus_Calc'),
  '.wks': any('MS_Works_Calc', 'Lotus', 'WPS_Lotus_Calc'),
  '.wmf': any('WMF - MS Windows Metafile'),
  '.wpd': any('WordPerfect'),
  '.wpg': any('WordPerfect Graphics'),
  '.wps': any('MS_Works', 'Mac_Works', 'Mac_Works_Calc', 'MS Word 97'),
  '.xbm': any('XBM - X-Consortium'),
  '.xhtml': HTML,
  '.xls': OLD_EXCEL,
  '.xlsb': format('package', 'Calc MS Excel 2007 Binary'),
  '.xlsm': EXCEL,
  '.xlsx': EXCEL,
  '.xlt': OLD_EXCEL,
  '.xltm': EXCEL,
  '.xltx': EXCEL,
  '.xlw': OLD_EXCEL,
  '.xml': format('letter', 'ADO Rowset XML', TEXT),
  '.xpm': any('XPM'),
  '.zabw': any('AbiWord'),
};

export const EXTENSIONS: readonly string[] = Object.keys(FORMATS);

/** Who may read a document, or why nobody can. */
export type Reading =
  | { readonly filters: readonly string[] }
  | { readonly problem: 'mislabelled'; readonly expected: string }
  | { readonly problem: 'no filter' };

/** The import filters for a document with this extension (lower case, with dot) and this content. */
export function readingOf(extension: string, content: Content): Reading {
  const { nature, filters } = FORMATS[extension] ?? UNREADABLE;
  if (nature === 'package' && !isPackage(content) && !content.startsWith('flat-')) {
    return { problem: 'mislabelled', expected: `the ZIP package that ${extension} is` };
  }
  if ((nature === 'text' || nature === 'rows') && content === 'binary') {
    return { problem: 'mislabelled', expected: 'text' };
  }
  const found = byContent(nature, content) ?? filters;
  return found.length === 0 ? { problem: 'no filter' } : { filters: found };
}

function byContent(nature: Nature, content: Content): readonly string[] | undefined {
  if (nature === 'text' || nature === 'rows') {
    // Source text shows itself, as it does in LibreOffice; a package or a picture with such a name is one.
    return /^(html|rtf|xml|svg|flat-|eps|text|mathml|abiword|docbook|uof|.*-xml)/.test(content)
      ? undefined
      : filtersOf(content);
  }
  if (content === 'html') return nature === 'sheet' ? ['calc_HTML_WebQuery'] : ['HTML'];
  if (content === 'rtf') return ['Rich Text Format'];
  if (content === 'text' && nature === 'sheet') return [ROWS];
  if (content === 'text' && nature === 'letter') return [TEXT];
  return filtersOf(content);
}

/** Whether the filter reads bytes as text of some encoding. */
export function readsText(filter: string): 'lines' | 'rows' | undefined {
  if (filter === TEXT) return 'lines';
  return filter === ROWS ? 'rows' : undefined;
}
