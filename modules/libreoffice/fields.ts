import { flattenFields, officeFinishingFields } from '../../src/capability/finishing-fields.ts';
import { bool, filesWith, int, planned, text } from '../../src/http/field-kinds.ts';
import type { FieldTable, FormOf } from '../../src/http/fields.ts';
import { EXTENSIONS } from './formats.ts';

const later = (value: boolean, doc: string) => planned(bool({ default: value, doc }));
const number = (value: number, doc: string, check?: (value: number) => string | undefined) =>
  planned(int({ default: value, doc, ...(check && { check }) }));
const oneOf =
  (allowed: readonly number[], words: string) =>
  (value: number): string | undefined =>
    allowed.includes(value) ? undefined : `value is not ${words}`;
const atLeast =
  (least: number) =>
  (value: number): string | undefined =>
    value < least ? `value is inferior to ${least}` : undefined;

/** The form of /forms/libreoffice/convert, in the order in which the compatible API reports problems. */
export const convertFields = {
  ...officeFinishingFields,
  files: filesWith(EXTENSIONS, { doc: 'The documents to convert, in the alphanumeric order of their names.' }),

  password: text({ default: '', secret: true, doc: 'The password that opens the documents.' }),
  landscape: bool({ default: false, doc: 'Print on paper in landscape.' }),
  nativePageRanges: text({ default: '', doc: 'The pages to convert, such as 1-4,6; empty means all.' }),
  updateIndexes: bool({ default: true, doc: 'Bring tables of contents and other indexes up to date first.' }),
  exportFormFields: later(true, 'Make form controls fillable fields of the PDF.'),
  allowDuplicateFieldNames: later(false, 'Let several form fields have one name.'),
  exportBookmarks: later(true, 'Make headings the outline of the PDF.'),
  exportBookmarksToPdfDestination: later(false, 'Make bookmarks named destinations of the PDF.'),
  exportPlaceholders: later(false, 'Print placeholder fields.'),
  exportNotes: later(false, 'Make comments notes of the PDF.'),
  exportNotesPages: later(false, "Add a presentation's notes pages."),
  exportOnlyNotesPages: later(false, "Print nothing but a presentation's notes pages."),
  exportNotesInMargin: later(false, 'Print comments in the margin.'),
  convertOooTargetToPdfTarget: later(false, 'Make links to OpenDocument files links to PDFs.'),
  exportLinksRelativeFsys: later(false, 'Make links to files relative.'),
  exportHiddenSlides: later(false, 'Print hidden slides, too.'),
  skipEmptyPages: later(false, 'Leave out pages that are empty.'),
  addOriginalDocumentAsStream: later(false, 'Put the document itself into the PDF.'),
  singlePageSheets: later(false, 'Print each sheet on one page.'),
  initialView: number(
    0,
    'What a viewer shows: 0 the page, 1 the outline, 2 thumbnails.',
    oneOf([0, 1, 2], '0, 1 or 2'),
  ),
  initialPage: number(1, 'The page that a viewer opens.', atLeast(1)),
  magnification: number(
    0,
    'How a viewer scales: 0 as it likes, 1 the page, 2 its width, 3 what is visible, 4 as zoom says.',
    oneOf([0, 1, 2, 3, 4], '0, 1, 2, 3 or 4'),
  ),
  zoom: number(100, 'Percent, where magnification is 4.', atLeast(1)),
  pageLayout: number(
    0,
    'How a viewer lays pages out: 0 as it likes, 1 one, 2 a column, 3 two columns.',
    oneOf([0, 1, 2, 3], '0, 1, 2 or 3'),
  ),
  firstPageOnLeft: later(false, 'Put the first page to the left, where there are two columns.'),
  resizeWindowToInitialPage: later(false, "Fit the viewer's window to the page."),
  centerWindow: later(false, "Center the viewer's window."),
  openInFullScreenMode: later(false, 'Open in full screen.'),
  displayPDFDocumentTitle: later(true, "Show the document's title in the window's."),
  hideViewerMenubar: later(false, "Hide the viewer's menus."),
  hideViewerToolbar: later(false, "Hide the viewer's tools."),
  hideViewerWindowControls: later(false, "Hide the viewer's controls."),
  useTransitionEffects: later(true, 'Keep the transitions of slides.'),
  openBookmarkLevels: number(-1, 'Levels of the outline that are open; -1 means all.', value =>
    value === -1 || (value >= 1 && value <= 10) ? undefined : 'value is not -1 or between 1 and 10',
  ),
  losslessImageCompression: later(false, 'Compress pictures without loss.'),
  quality: number(90, 'The quality of pictures compressed with loss, from 1 to 100.', value =>
    value > 100 ? 'value is superior to 100' : atLeast(1)(value),
  ),
  reduceImageResolution: later(false, 'Reduce the resolution of pictures.'),
  maxImageResolution: number(
    300,
    'The resolution to reduce them to: 75, 150, 300, 600 or 1200 DPI.',
    oneOf([75, 150, 300, 600, 1200], '75, 150, 300, 600 or 1200'),
  ),
  nativeWatermarkText: planned(text({ default: '', doc: 'A watermark on each page.' })),
  nativeWatermarkColor: number(8388223, 'Its color, a decimal RGB number.'),
  nativeWatermarkFontHeight: number(0, 'Its height in points; 0 means as large as fits.', atLeast(0)),
  nativeWatermarkRotateAngle: number(0, 'Its angle in tenths of a degree.'),
  nativeWatermarkFontName: planned(text({ default: 'Helvetica', doc: 'Its font.' })),
  nativeTiledWatermarkText: planned(text({ default: '', doc: 'A watermark that fills each page.' })),
  nativePdfFormats: later(true, 'Have LibreOffice itself follow PDF/A and PDF/UA where it can.'),
  merge: bool({ default: false, doc: 'Merge all documents into one PDF, in their order.' }),
  ...flattenFields,
} as const satisfies FieldTable;

export type ConvertForm = FormOf<typeof convertFields>;

/** Form field and the property of LibreOffice's PDF export filter that it sets. */
const EXPORT_PROPERTIES = {
  exportFormFields: 'ExportFormFields',
  allowDuplicateFieldNames: 'AllowDuplicateFieldNames',
  exportBookmarks: 'ExportBookmarks',
  exportBookmarksToPdfDestination: 'ExportBookmarksToPDFDestination',
  exportPlaceholders: 'ExportPlaceholders',
  exportNotes: 'ExportNotes',
  exportNotesPages: 'ExportNotesPages',
  exportOnlyNotesPages: 'ExportOnlyNotesPages',
  exportNotesInMargin: 'ExportNotesInMargin',
  convertOooTargetToPdfTarget: 'ConvertOOoTargetToPDFTarget',
  exportLinksRelativeFsys: 'ExportLinksRelativeFsys',
  exportHiddenSlides: 'ExportHiddenSlides',
  skipEmptyPages: 'IsSkipEmptyPages',
  addOriginalDocumentAsStream: 'IsAddStream',
  singlePageSheets: 'SinglePageSheets',
  initialView: 'InitialView',
  initialPage: 'InitialPage',
  magnification: 'Magnification',
  zoom: 'Zoom',
  pageLayout: 'PageLayout',
  firstPageOnLeft: 'FirstPageOnLeft',
  resizeWindowToInitialPage: 'ResizeWindowToInitialPage',
  centerWindow: 'CenterWindow',
  openInFullScreenMode: 'OpenInFullScreenMode',
  displayPDFDocumentTitle: 'DisplayPDFDocumentTitle',
  hideViewerMenubar: 'HideViewerMenubar',
  hideViewerToolbar: 'HideViewerToolbar',
  hideViewerWindowControls: 'HideViewerWindowControls',
  useTransitionEffects: 'UseTransitionEffects',
  openBookmarkLevels: 'OpenBookmarkLevels',
  losslessImageCompression: 'UseLosslessCompression',
  quality: 'Quality',
  reduceImageResolution: 'ReduceImageResolution',
  maxImageResolution: 'MaxImageResolution',
} as const satisfies Partial<Record<keyof ConvertForm, string>>;

/**
 * The options of the PDF export for a form. All are always given, defaults too: those of LibreOffice differ from the
 * API's (it reduces pictures) and from version to version (25.2 tags by itself).
 */
export function exportOptions(form: ConvertForm, pageRanges: string): Record<string, string | number | boolean> {
  const given = Object.entries(EXPORT_PROPERTIES).map(([field, property]) => [
    property,
    form[field as keyof typeof EXPORT_PROPERTIES],
  ]);
  return {
    ...Object.fromEntries(given),
    PDFUACompliance: form.pdfua,
    UseTaggedPDF: form.pdfua,
    EnableTextAccessForAccessibilityTools: form.pdfua,
    ...(pageRanges && { PageRange: pageRanges }),
  };
}
