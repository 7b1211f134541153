import { invalidField } from '../kernel/errors.ts'
import type { PageOrder, PagePosition, SortKey, SortValue } from '../kernel/page.ts'

/** A position as `next_cursor`: the names of its list and of its order, and its values. */
export function encodeCursor({ list, order, values }: PagePosition): string {
  return Buffer.from(JSON.stringify([list, order, ...values])).toString('base64url')
}

/**
 * Throws `validation_failed` for a cursor that this program did not make, or made for another order. The list itself compares
 * its name.
 */
export function decodeCursor(cursor: string, { name, keys }: PageOrder): PagePosition {
  const [list, order, ...values] = parseList(Buffer.from(cursor, 'base64url').toString())
  const isValid =
    typeof list === 'string' &&
    order === name &&
    values.length === keys.length &&
    values.every((value, at) => fits(value, keys[at]))
  const position = { list: String(list), order: name, values: values as SortValue[] }
  // Compared, because another encoding of the same values is not from this program.
  if (!isValid || encodeCursor(position) !== cursor) throw invalidField('cursor', 'unknown_cursor')
  return position
}

function parseList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

function fits(value: unknown, key: SortKey | undefined): boolean {
  if (value === null) return key?.nullable === true
  return key?.type === 'integer' ? Number.isSafeInteger(value) : isText(value)
}

/** Text that every engine takes as a value. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}
