import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { newId } from '../../kernel/ids.ts'
import { hasEnded } from '../../kernel/process.ts'
import { errorCode } from '../../kernel/errors.ts'

/** A new name for a holder of leases in this process; it names the process, so that others can see its end. */
export function newHolder(): string {
  const holder = `${HOST.id}/${process.pid}/${newId()}`
  OWN.add(holder)
  return holder
}

/**
 * Whether the process of a holder has ended that can only have been on this host, such as one of a SQLite file: it has, too, if
 * it was before the last boot.
 */
export function hasEndedHere(holder: string): boolean {
  return !isOfThisHost(holder) || isGone(holder)
}

const OWN = new Set<string>()

/**
 * Whether the holder's process has ended. Only known on the same host: a holder elsewhere counts as alive, and so does every
 * one where the system does not tell this host from others.
 */
export function isDeadHolder(holder: string): boolean {
  return HOST.isUnique && isOfThisHost(holder) && isGone(holder)
}

function isOfThisHost(holder: string): boolean {
  return holder.split('/')[0] === HOST.id
}

function isGone(holder: string): boolean {
  const processId = Number(holder.split('/')[1])
  if (!processId) return false
  // Another process had the number of this one before, such as the first one of a container that was started again.
  if (processId === process.pid) return !OWN.has(holder)
  return isFree(processId) || isZombie(processId)
}

function isFree(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
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
 * is not: machines and containers may share one.
 */
function readHost(): { readonly id: string; readonly isUnique: boolean } {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return { id: `${hostname()},${boot},${readlinkSync('/proc/self/ns/pid')}`, isUnique: true }
  } catch {
    // Not Linux, or a service whose unit hides these files, such as by ProcSubset=pid.
    return { id: hostname(), isUnique: false }
  }
}

const HOST = readHost()
