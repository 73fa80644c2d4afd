import { availableParallelism } from 'node:os';
import { bytes, flag, fromEnv, regexList, text } from '../../src/settings/declare.ts';
import { engineSettings } from '../../src/settings/engine-settings.ts';

export const ENGINE_NAME = 'LibreOffice';

/** LibreOffice opens no socket but local ones, so whatever an operator allows or denies is kept. */
const NOTHING_GOES_OUT = 'LibreOffice reaches nothing outside a document, so this always holds.';

export const libreofficeSettings = {
  disableRoutes: flag({ default: false, doc: 'Leave out the /forms/libreoffice routes.' }),
  ...engineSettings(ENGINE_NAME, {
    instances: availableParallelism(),
    instancesText: 'one per core',
    restartAfter: 300,
    maxMemory: '600MB',
  }),
  memoryLimit: bytes({
    default: '4GiB',
    doc: 'Address space that LibreOffice may have at most; a document that needs more fails. Empty means no limit.',
  }),
  binPath: fromEnv(
    'LIBREOFFICE_BIN_PATH',
    text({
      default: '/usr/lib/libreoffice/program/soffice.bin',
      doc: 'The program of LibreOffice: soffice.bin, or the soffice beside it.',
      accepts: 'an absolute path',
      check: path => path.startsWith('/'),
    }),
  ),
  pythonBinPath: fromEnv(
    'PYTHON_BIN_PATH',
    text({
      default: '/usr/bin/python3',
      doc: 'The Python that has uno (and pikepdf); a python3 found on PATH may lack them.',
      accepts: 'an absolute path',
      check: path => path.startsWith('/'),
    }),
  ),
  allowList: regexList({ default: [], doc: `URLs that documents may link to. ${NOTHING_GOES_OUT}` }),
  denyList: regexList({ default: [], doc: `URLs that documents may not link to. ${NOTHING_GOES_OUT}` }),
  denyPrivateIps: flag({ default: false, doc: `Refuse private addresses. ${NOTHING_GOES_OUT}` }),
  denyPublicIps: flag({ default: false, doc: `Refuse public addresses. ${NOTHING_GOES_OUT}` }),
  enableEnvironmentProxy: flag({
    default: false,
    doc: 'Accepted without effect: LibreOffice fetches nothing, through a proxy or without.',
  }),
};
