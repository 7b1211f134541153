import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { parseRfc3339 } from '../../src/kernel/time.ts'

/** Whether a value of a JSON text has the expected shape. */
export type ShapeCheck = (value: unknown) => boolean

export const isText: ShapeCheck = (value) => typeof value === 'string'
export const isNumber: ShapeCheck = (value) => typeof value === 'number' && Number.isFinite(value)
export const isCount: ShapeCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0
export const isFlag: ShapeCheck = (value) => typeof value === 'boolean'
export const isBackupIdText: ShapeCheck = (value) => typeof value === 'string' && /^\d{8}-\d{6}$/.test(value)

export const isSha256: ShapeCheck = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
export const isTimeText: ShapeCheck = (value) =>
  typeof value === 'string' && parseRfc3339(value) !== undefined

export const oneOf =
  (names: readonly string[]): ShapeCheck =>
  (value) =>
    typeof value === 'string' && names.includes(value)

export const listOf =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    Array.isArray(value) && value.every(check)

export const valuesOf =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    isRecord(value) && Object.values(value).every(check)

export const optional =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    value === undefined || check(value)

export const objectOf =
  (checks: Readonly<Record<string, ShapeCheck>>): ShapeCheck =>
  (value) =>
    isRecord(value) && Object.entries(checks).every(([name, check]) => check(value[name]))

/** The object in a JSON text. Throws an error that names the first member that is wrong, without the content. */
export function parseChecked<T>(text: string, checks: Readonly<Record<keyof T & string, ShapeCheck>>): T {
  const value = jsonValueOf(text)
  if (value === undefined) throw new Error('it is not valid JSON')
  const members = new Map(Object.entries(Object(value)))
  for (const [name, check] of Object.entries<ShapeCheck>(checks))
    if (!check(members.get(name))) throw new Error(`its member "${name}" is missing or wrong`)
  return value as T
}
