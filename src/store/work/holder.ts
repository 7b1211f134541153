import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { newId } from '../../kernel/ids.ts'
import { hasEnded } from '../../kernel/process.ts'

/** A new name for a holder of leases in this process; it names the process, so that others can see its end. */
export function newHolder(): string {
  const holder = `${HOST_ID}/${process.pid}/${newId()}`
  OWN.add(holder)
  return holder
}

/**
 * Whether the process of a holder has ended that can only have been on this host, such as one of a SQLite file: it has, too, if
 * it was before the last boot, or has had the number of this process.
 */
export function hasEndedHere(holder: string): boolean {
  if (OWN.has(holder)) return false
  const [host, processId] = holder.split('/')
  return host !== HOST_ID || Number(processId) === process.pid || isDeadHolder(holder)
}

const OWN = new Set<string>()

/** Whether the holder's process has ended. Only known on the same host: a holder elsewhere counts as alive. */
export function isDeadHolder(holder: string): boolean {
  const [host, processId] = holder.split('/')
  if (host !== HOST_ID || !Number(processId)) return false
  if (Number(processId) === process.pid) return false
  return isFree(Number(processId)) || isZombie(Number(processId))
}

function isFree(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** A process that cannot be seen counts as alive: it may belong to another account. */
function isZombie(processId: number): boolean {
  try {
    return hasEnded(readFileSync(`/proc/${processId}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * The scope in which a process id is unique: one boot of one machine, and in it one PID namespace. A host name alone
 * is not enough: machines and containers may share one.
 */
function readHostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${hostname()},${boot},${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Not Linux: only the host name is known there.
    return hostname()
  }
}

const HOST_ID = readHostId()
