import { availableParallelism } from 'node:os';
import { bytes, flag, fromEnv, planned, text } from '../../src/settings/declare.ts';
import { engineSettings } from '../../src/settings/engine-settings.ts';

export const ENGINE_NAME = 'the PDF engine';

/** Features whose tools the compatible API lets an operator choose, with its default choice. */
const TOOL_CHOICES = {
  mergeEngines: 'qpdf,pdfcpu,pdftk',
  splitEngines: 'pdfcpu,qpdf,pdftk',
  flattenEngines: 'qpdf',
  convertEngines: 'libreoffice-pdfengine',
  optimizeImagesEngines: 'pdfcpu',
  readMetadataEngines: 'exiftool',
  writeMetadataEngines: 'exiftool',
  encryptEngines: 'qpdf,pdftk,pdfcpu',
  embedEngines: 'pdfcpu',
  embedMetadataEngines: 'qpdf',
  readBookmarksEngines: 'pdfcpu',
  writeBookmarksEngines: 'pdfcpu',
  watermarkEngines: 'pdfcpu,pdftk',
  stampEngines: 'pdfcpu,pdftk',
  rotateEngines: 'pdfcpu,pdftk',
  facturXEngines: 'qpdf',
} as const;

type ToolChoices = { readonly [K in keyof typeof TOOL_CHOICES]: ReturnType<typeof text> };

/** One engine does everything here, so the only choice that can be granted is the default. */
const toolChoices = Object.fromEntries(
  Object.entries(TOOL_CHOICES).map(([key, tools]) => [
    key,
    planned(text({ default: tools, doc: 'Tools of the compatible API for this; here one engine does it.' })),
  ]),
) as ToolChoices;

export const pdfSettings = {
  disableRoutes: flag({ default: false, doc: 'Leave out all /forms/pdfengines routes.' }),
  ...engineSettings(ENGINE_NAME, {
    instances: availableParallelism(),
    instancesText: 'one per core',
    restartAfter: 5000,
    maxMemory: '512MB',
  }),
  memoryLimit: bytes({
    default: '2GiB',
    doc: `Memory that ${ENGINE_NAME} may hold at most; a conversion that needs more fails. Empty means no limit.`,
  }),
  pythonBinPath: fromEnv(
    'PYTHON_BIN_PATH',
    text({
      default: '/usr/bin/python3',
      doc: 'The Python that has pikepdf (and uno); a python3 found on PATH may lack them.',
      accepts: 'an absolute path',
      check: path => path.startsWith('/'),
    }),
  ),
  ...toolChoices,
  engines: text({ default: '', doc: 'Accepted without effect, as in the compatible API.' }),
};
