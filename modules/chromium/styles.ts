import { EngineCrash } from '../../src/supervise/types.ts';
import type { Visit } from './visit.ts';

/**
 * Makes the page ready to be printed as it looks: colours as they are and, without backgrounds, none behind the whole
 * page, as in the compatible API. Waits for fonts that are still on their way. As an adopted style sheet, which leaves
 * the document as it is and works in SVG and XML too, where there is no head.
 */
export async function dressForPrint(printBackground: boolean, visit: Visit): Promise<void> {
  const css = `html{-webkit-print-color-adjust:exact!important}${printBackground ? '' : 'html,body{background:none!important}'}`;
  const expression = `(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(css)});
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    if (document.fonts?.status === 'loading') return document.fonts.ready.then(() => {});
  })()`;
  try {
    await visit.send('Runtime.evaluate', { expression, awaitPromise: true });
  } catch (error) {
    // The page goes elsewhere in this moment: there is another document to dress.
    if (visit.signal.aborted || error instanceof EngineCrash) throw error;
  }
}
