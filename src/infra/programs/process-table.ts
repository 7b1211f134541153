import { readdirSync, readFileSync } from 'node:fs'
import { fieldsFromState, hasEnded } from '../../kernel/process-state.ts'
import { EXECUTION_VARIABLE } from './process-tree.ts'

/** A process of this host. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** The execution that its environment names; undefined without one, and where it must not be read. */
  readonly executionId: string | undefined
}

/** The living processes that proc(5) shows; none on a system without it. */
export function readProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => readProcess(pid) ?? [])
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

const PREFIX = `${EXECUTION_VARIABLE}=`

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined || hasEnded(stat)) return undefined
  const [, parent, group, session] = fieldsFromState(stat)
  const variables = readText(`/proc/${pid}/environ`)?.split('\0')
  const executionId = variables?.find((each) => each.startsWith(PREFIX))?.slice(PREFIX.length)
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), executionId }
}

/** Undefined when the process has ended, or belongs to another account. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The processes of an execution: those that its environment marks or that `known` names, and what belongs to them. */
export function membersOf(
  processes: readonly ProcessEntry[],
  executionId: string,
  known: ReadonlySet<number> = new Set(),
): number[] {
  const members = new Set<number>()
  const isMember = ({ pid, parent, group, session, executionId: named }: ProcessEntry) =>
    named === executionId || [pid, parent, group, session].some((id) => known.has(id) || members.has(id))
  for (let size = -1; size < members.size;) {
    size = members.size
    for (const each of processes) if (isMember(each)) members.add(each.pid)
  }
  // A worker that was started by a command has the environment of that command.
  members.delete(process.pid)
  return [...members]
}
