import { Failure } from '../failure/failure.ts';
import type { Field, FieldTable, FormOf, RawForm, Read, ValueField } from './fields.ts';

/**
 * Reads a form by its route's table. Fields that the table doesn't have are passed over; of a field sent several times
 * the first value counts; an empty value is an absent one.
 * @throws Failure `FORM_INVALID` with every problem, in the table's order
 */
export function readForm<T extends FieldTable>(table: T, raw: RawForm): FormOf<T> {
  const form: Record<string, unknown> = { $files: raw.files };
  const problems: string[] = [];
  for (const [name, field] of Object.entries(table)) {
    const read = readField(name, field, raw);
    if ('problem' in read) problems.push(read.problem);
    else form[name] = read.value;
  }
  if (problems.length > 0) throw new Failure('FORM_INVALID', { problems: problems.join('\n') });
  return form as FormOf<T>;
}

function readField(name: string, field: Field, raw: RawForm): Read<unknown> {
  if (field.in === 'files') {
    const picked: Read<unknown> = field.pick(raw.files);
    const sent = 'value' in picked && picked.value !== undefined && !isEmptyList(picked.value);
    return field.planned && sent ? { problem: notYet(`file '${name}'`) } : picked;
  }
  const value = raw.values.get(name)?.[0] ?? '';
  return value === '' ? readAbsent(name, field) : readValue(name, field, value);
}

function readAbsent(name: string, field: ValueField<unknown>): Read<unknown> {
  return field.required ? { problem: `form field '${name}' is required` } : { value: field.default };
}

function readValue(name: string, field: ValueField<unknown>, raw: string): Read<unknown> {
  const read = field.read(raw);
  if ('problem' in read) {
    const shown = field.secret ? '***' : raw;
    return { problem: `form field '${name}' is invalid (got '${shown}', resulting to ${read.problem})` };
  }
  const asksForMore = JSON.stringify(read.value) !== JSON.stringify(field.default);
  return field.planned && asksForMore ? { problem: notYet(`field '${name}'`) } : read;
}

function notYet(what: string): string {
  return `form ${what} is not supported by this version of Platen yet; leave it out`;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
