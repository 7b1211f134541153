import type { JsonObject } from './answers.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'

/** The id of the folder that holds everything. It has no entry. */
export const ROOT_ID = 'root'

/** What to do when there is an entry of the name already. */
export const NAME_MODES = ['auto_rename', 'refuse', 'ignore'] as const
export type NameMode = (typeof NAME_MODES)[number]

/** A part of a file's content. */
export interface StoredPart {
  readonly blob: string
  readonly size: number
  /** MD5 in hexadecimal digits, in upper case. */
  readonly etag: string
}

/** A file or a folder. */
export interface Entry {
  readonly fileId: string
  readonly driveId: string
  parentId: string
  name: string
  readonly type: 'file' | 'folder'
  readonly size: number
  /** SHA-1 in hexadecimal digits, in upper case; empty for a folder. */
  readonly sha1: string
  /** SHA-1 of the first 1024 bytes; empty for a folder. */
  readonly preHash: string
  readonly parts: readonly StoredPart[]
  readonly createdAt: number
  updatedAt: number
  isInRecycleBin: boolean
  isStarred: boolean
}

/** The record of an entry, as every call of the API shows it. Folders have no size and no hash. */
export function toRecord(entry: Entry): JsonObject {
  const times = { created_at: toRfc3339(entry.createdAt), updated_at: toRfc3339(entry.updatedAt) }
  const common = {
    drive_id: entry.driveId,
    file_id: entry.fileId,
    parent_file_id: entry.parentId,
    name: entry.name,
    type: entry.type,
    status: 'available',
    starred: entry.isStarred,
    ...times,
  }
  if (entry.type === 'folder') return common
  return {
    ...common,
    size: entry.size,
    content_hash: entry.sha1,
    content_hash_name: 'sha1',
    file_extension: extensionOf(entry.name),
    category: categoryOf(entry.name),
  }
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1) : ''
}

const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  zip: ['zst', 'gz', 'zip', 'tar', 'xz', '7z', 'age'],
  doc: ['json', 'txt', 'md', 'pdf', 'csv'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp'],
  video: ['mp4', 'mkv', 'mov'],
  audio: ['mp3', 'flac', 'wav'],
}

export function categoryOf(name: string): string {
  const extension = extensionOf(name).toLowerCase()
  const match = Object.entries(CATEGORIES).find(([, extensions]) => extensions.includes(extension))
  return match?.[0] ?? 'others'
}
