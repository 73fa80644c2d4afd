// Runs on Node 20 before anything is installed: no dependency, no TypeScript.

/**
 * @typedef {object} DebianPackage
 * @property {string} name the same in Debian 12 and 13
 * @property {string} why what it is for, in words for whoever is asked to install it
 * @property {'service' | 'try' | 'tests'} for the service itself (then it is in the image too), the line that
 *   `npm start` proposes, or the tests
 * @property {string} [program] where Debian puts what the service starts
 */

/** Every Debian package that Platen needs: `npm start`, `npm test` and the image all follow from this table. */
export const debianPackages = /** @type {readonly DebianPackage[]} */ ([
  {
    name: 'chromium-headless-shell',
    for: 'service',
    why: 'HTML and web pages',
    program: '/usr/lib/chromium/chromium-headless-shell',
  },
  {
    name: 'libreoffice-core-nogui',
    for: 'service',
    why: 'Office files',
    program: '/usr/lib/libreoffice/program/soffice.bin',
  },
  { name: 'libreoffice-writer-nogui', for: 'service', why: 'text documents' },
  { name: 'libreoffice-calc-nogui', for: 'service', why: 'spreadsheets' },
  { name: 'libreoffice-impress-nogui', for: 'service', why: 'presentations' },
  { name: 'libreoffice-draw-nogui', for: 'service', why: 'drawings' },
  { name: 'libreoffice-math-nogui', for: 'service', why: 'formulas, also those inside text documents' },
  { name: 'libreoffice-base-drivers', for: 'service', why: 'dBase files' },
  { name: 'python3-uno', for: 'service', why: 'the bridge to LibreOffice', program: '/usr/bin/python3' },
  { name: 'python3-pikepdf', for: 'service', why: 'work on PDFs' },
  { name: 'util-linux', for: 'service', why: 'setpriv: engines end with the service', program: '/usr/bin/setpriv' },
  { name: 'fonts-liberation2', for: 'service', why: 'metrics of Arial, Times New Roman and Courier New' },
  { name: 'fonts-crosextra-carlito', for: 'service', why: 'metrics of Calibri' },
  { name: 'fonts-crosextra-caladea', for: 'service', why: 'metrics of Cambria' },
  { name: 'fonts-dejavu-core', for: 'service', why: 'metrics of Verdana, and many symbols' },
  { name: 'fonts-noto-core', for: 'service', why: 'scripts from Arabic to Thai' },
  { name: 'fonts-noto-cjk', for: 'service', why: 'Chinese, Japanese and Korean' },
  { name: 'fonts-noto-color-emoji', for: 'service', why: 'emoji' },
  { name: 'curl', for: 'try', why: 'the line that npm start proposes' },
  { name: 'poppler-utils', for: 'tests', why: 'reading the PDFs that came out', program: '/usr/bin/pdftotext' },
  { name: 'qpdf', for: 'tests', why: 'checking the PDFs that came out', program: '/usr/bin/qpdf' },
]);

/**
 * What `npm start` needs, or what `npm test` needs.
 * @param {'start' | 'test'} purpose
 */
export function packagesFor(purpose) {
  const wanted = { start: ['service', 'try'], test: ['service', 'tests'] }[purpose];
  return debianPackages.filter(entry => wanted.includes(entry.for));
}

/**
 * The packages that dpkg doesn't list as installed. Where LibreOffice with its desktop is installed, that serves as
 * well, and the missing parts are those that go with it: the `-nogui` ones would push it off the machine.
 * @param {readonly DebianPackage[]} needed
 * @param {ReadonlySet<string>} installed names, as from {@link installedPackages}
 */
export function missingPackages(needed, installed) {
  const withDesktop = installed.has('libreoffice-core');
  return needed
    .map(entry => (withDesktop ? { ...entry, name: entry.name.replace(/^(libreoffice-.*)-nogui$/, '$1') } : entry))
    .filter(entry => !installed.has(entry.name));
}

/**
 * Reads dpkg's own list: asking `dpkg-query` would cost more than all the rest of a set-up with nothing to do.
 * @param {string} status the text of /var/lib/dpkg/status
 * @returns {Set<string>}
 */
export function installedPackages(status) {
  const found = status.matchAll(/^Package: (\S+)\n(?:.+\n)*?Status: \S+ ok installed$/gm);
  return new Set(Array.from(found, ([, name]) => name ?? ''));
}
