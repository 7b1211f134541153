import { existsSync, readlinkSync, statSync } from 'node:fs'

/** Where systemd keeps the journal between starts of the host. */
export const JOURNAL = '/var/log/journal'

const DELETED = ' (deleted)'

/** A file to which the standard output of a process goes, or the directory of the journal. */
export interface LogFile {
  readonly path: string
  /** The process that writes to it; undefined for the journal. */
  readonly processId: number | undefined
  /** Its space becomes free when the process ends. */
  readonly isDeleted: boolean
}

/**
 * The log of these processes, and the journal where one writes to it or none runs. A pipe is read by a program that is not known;
 * of processes of other users only root sees anything.
 */
export function findLogFiles(processIds: readonly number[], journal = JOURNAL): LogFile[] {
  const outputs = processIds.map((processId) => ({ processId, output: outputOf(processId) }))
  const files = outputs.flatMap(({ processId, output }) => fileOf(processId, output))
  const usesJournal = outputs.every(({ output }) => output === undefined || output.startsWith('socket:'))
  if (files.length > 0 || !usesJournal || !existsSync(journal)) return files
  return [{ path: journal, processId: undefined, isDeleted: false }]
}

function outputOf(processId: number): string | undefined {
  try {
    return readlinkSync(`/proc/${processId}/fd/1`)
  } catch {
    return undefined
  }
}

function fileOf(processId: number, output: string | undefined): LogFile[] {
  if (output === undefined) return []
  const isDeleted = output.endsWith(DELETED)
  const path = isDeleted ? output.slice(0, -DELETED.length) : output
  const isFile = statSync(`/proc/${processId}/fd/1`, { throwIfNoEntry: false })?.isFile() === true
  return isFile ? [{ path, processId, isDeleted }] : []
}
