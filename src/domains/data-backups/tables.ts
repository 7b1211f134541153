import { defineColumns, flag, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import { WORK_COLUMNS } from '../../store/work/work-queue.ts'
import type { BackupStatus } from './model.ts'

export const dataBackups = defineColumns({
  seq: generated(),
  id: text(),
  status: text<BackupStatus>(),
  sizeBytes: integer().nullable(),
  sha256: text().nullable(),
  tables: json<Readonly<Record<string, number>>>().nullable(),
  schemaVersion: text().nullable(),
  createdAt: integer(),
  finishedAt: integer().nullable(),
  verifiedAt: integer().nullable(),
  error: text().nullable(),
  note: text().nullable(),
  requestedBy: text(),
  version: integer(),
  /**
   * Whether the file may have its final name: set before it gets that name. A snapshot contains its own row as it was
   * before, so a process that works on the restored database does not remove the file that it was restored from.
   */
  isPlaced: flag(),
  /** Whether an alert was raised for the failure. A backup that was ended by a restoration raises none. */
  isAlerted: flag(),
  /** The row stays until its file is removed; no operation shows it. */
  deletedAt: integer().nullable(),
  ...WORK_COLUMNS,
})

export const { changeRow, changeRows, lockable, names, pages, readRow, readRows } = schemaOf({
  data_backups: dataBackups,
})
