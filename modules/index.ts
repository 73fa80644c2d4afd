import type { Module } from '../src/module.ts';
import { chromium } from './chromium/index.ts';
import { libreoffice } from './libreoffice/index.ts';
import { pdf } from './pdf/index.ts';

/** All features, in the order of starting: what one offers to others is there for those after it. */
export const modules: readonly Module[] = [pdf, libreoffice, chromium];
