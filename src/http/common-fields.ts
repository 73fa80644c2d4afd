import { json, planned } from './field-kinds.ts';
import type { FieldTable } from './fields.ts';

/** Fields that every route with a form has, before its own. */
export const downloadFields = {
  downloadFrom: planned(
    json<readonly unknown[]>({
      name: 'downloadFrom',
      default: [],
      shape: value => (Array.isArray(value) ? value : undefined),
      expected: 'a list such as [{"url":"https://…"}]',
      doc: 'Files to fetch, as if they had been sent.',
    }),
  ),
} as const satisfies FieldTable;
