import { jsonAnswer } from '../../mock-server/answers.ts'
import { apiError, invalidParameter, type Answer, type JsonObject } from '../answers.ts'
import { requireDriveId, requireEntry, type Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'
import { categoryOf, toRecord, type Entry } from '../entries.ts'
import type { Fields } from '../fields.ts'

// The documented maximum is 100; clients send 200 and get them.
const MAX_LIMIT = 200
const DEFAULT_LIMIT = 50
const MAX_BATCH = 100

const ORDERS = {
  created_at: ({ createdAt }: Entry) => createdAt,
  updated_at: ({ updatedAt }: Entry) => updatedAt,
  name: ({ name }: Entry) => name,
  size: ({ size }: Entry) => size,
  name_enhanced: ({ name }: Entry) =>
    name.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(20, '0')),
}
const ORDER_NAMES = Object.keys(ORDERS) as (keyof typeof ORDERS)[]

/** `POST openFile/list`: a folder, in pages. */
export function list(drive: MockDrive, { fields }: Call): Answer {
  requireDriveId(drive, fields)
  const parentId = fields.text('parent_file_id')
  drive.files.requireFolder(parentId)
  const type = fields.choice('type', ['file', 'folder', 'all'], 'all')
  const category = fields.optionalText('category') ?? ''
  const entries = drive.files
    .childrenOf(parentId)
    .filter((entry) => type === 'all' || entry.type === type)
    .filter((entry) => category === '' || category.split(',').includes(categoryOf(entry.name)))
  return pageAnswer(entries, fields)
}

const CONDITION = /^(name|parent_file_id|type)\s*(=|match)\s*(?:'([^']*)'|"([^"]*)")$/

/** `POST openFile/search`: conditions such as `name match 'backup' and parent_file_id = 'root'`. */
export function search(drive: MockDrive, { fields }: Call): Answer {
  requireDriveId(drive, fields)
  const conditions = fields
    .text('query')
    .trim()
    .split(/(?<!\s)\s+and\s+/i)
    .map(parseCondition)
  if (conditions.includes(undefined))
    return invalidParameter('Query', "expected conditions such as name match 'a' and parent_file_id = 'root'")
  const entries = drive.files
    .all()
    .filter(({ fileId }) => drive.files.find(fileId))
    .filter((entry) => conditions.every((matches) => matches?.(entry)))
  const total = fields.flag('return_total_count') ? { total_count: entries.length } : {}
  return pageAnswer(entries, fields, total)
}

function parseCondition(text: string): ((entry: Entry) => boolean) | undefined {
  const [, field, operator, single, double] = CONDITION.exec(text.trim()) ?? []
  const value = single ?? double ?? ''
  if (field === 'name' && operator === 'match') return ({ name }) => name.includes(value)
  if (operator !== '=') return undefined
  if (field === 'name') return ({ name }) => name === value
  return field === 'type' ? ({ type }) => type === value : ({ parentId }) => parentId === value
}

/** The marker is the position of the last entry in the order, so that deleting entries skips none. */
function pageAnswer(entries: readonly Entry[], fields: Fields, members: JsonObject = {}): Answer {
  const limit = fields.integer('limit', { minimum: 1, maximum: MAX_LIMIT }) ?? DEFAULT_LIMIT
  const key = ORDERS[fields.choice('order_by', ORDER_NAMES, 'created_at')]
  const sign = fields.choice('order_direction', ['ASC', 'DESC'], 'ASC') === 'ASC' ? 1 : -1
  const marker = fields.optionalText('marker') ?? ''
  const after = marker === '' ? undefined : parseMarker(marker)
  if (marker !== '' && !after) return invalidParameter('Marker', 'expected the next_marker of a page')
  const rest = entries
    .map((entry) => [key(entry), entry.fileId, entry] as const)
    .toSorted((a, b) => sign * compare(a, b))
    .filter((each) => !after || sign * compare(each, after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return jsonAnswer({
    items: page.map(([, , entry]) => toRecord(entry)),
    next_marker: last && rest.length > limit ? toMarker(last) : '',
    ...members,
  })
}

type Position = readonly [key: string | number, fileId: string, ...unknown[]]

function compare([keyA, idA]: Position, [keyB, idB]: Position): number {
  if (keyA !== keyB) return keyA < keyB ? -1 : 1
  if (idA === idB) return 0
  return idA < idB ? -1 : 1
}

function toMarker([key, fileId]: Position): string {
  return Buffer.from(JSON.stringify([key, fileId])).toString('base64url')
}

function parseMarker(text: string): Position | undefined {
  try {
    const [key, fileId]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString())
    const isGood = (typeof key === 'string' || typeof key === 'number') && typeof fileId === 'string'
    return isGood ? [key, fileId] : undefined
  } catch {
    return undefined
  }
}

/** `POST openFile/get` */
export function get(drive: MockDrive, call: Call): Answer {
  return jsonAnswer(toRecord(requireEntry(drive, call)))
}

/** `POST openFile/get_by_path` */
export function getByPath(drive: MockDrive, { fields }: Call): Answer {
  requireDriveId(drive, fields)
  const path = fields.text('file_path')
  if (!path.startsWith('/')) return invalidParameter('FilePath', 'expected a path that begins with a slash')
  const entry = drive.files.atPath(path)
  return entry
    ? jsonAnswer(toRecord(entry))
    : apiError(404, 'NotFound.File', 'There is no file at this path.')
}

/** `POST openFile/batch/get`: the files that exist. */
export function batchGet(drive: MockDrive, { fields }: Call): Answer {
  const wanted = fields.list('file_list', MAX_BATCH)
  if (!wanted) return invalidParameter('FileList', 'expected a list')
  const entries = wanted.map((each) => {
    requireDriveId(drive, each)
    return drive.files.find(each.text('file_id'))
  })
  return jsonAnswer({ items: entries.flatMap((entry) => (entry ? [toRecord(entry)] : [])) })
}
