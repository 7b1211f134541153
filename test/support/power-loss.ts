import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Chance } from './random.ts'

// A disk keeps sectors whole; anything larger may be torn when the power goes.
const SECTOR = 512

/** System calls that a recording needs: what changes files, what makes it last, and what tells a client. */
export const TRACED_CALLS = [
  'pwrite64',
  'write',
  'writev',
  'fsync',
  'fdatasync',
  'ftruncate',
  'unlink',
  'rename',
] as const

/** What a program did to files and sockets, in order. */
export type DiskStep =
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'sent'; readonly text: string }

/**
 * Reads a recording of `strace -f -qq -xx -y -s 1000000 -e trace=…`. A call that was interrupted in the recording by
 * another thread stands where it ended: until then it had promised nothing.
 */
export function readRecording(path: string): DiskStep[] {
  const steps: DiskStep[] = []
  const begun = new Map<string, string>()
  for (const line of readFileSync(path, 'latin1').split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(call)
    if (unfinished) {
      begun.set(thread, unfinished[1] ?? '')
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)
    const whole = resumed ? `${begun.get(thread) ?? ''}${resumed[1] ?? ''}` : call
    // strace pads a call that it took up again.
    const step = parseCall(whole.replace(/\) += /, ') = '))
    if (step) steps.push(step)
  }
  return steps
}

const HEX = '(?:\\\\x[0-9a-f]{2})*'
const FD = `\\d+<(${HEX})>`

/** One expression for each call; the groups are its path and what else is needed. Only calls that succeeded match. */
const CALLS: readonly (readonly [RegExp, (groups: string[]) => DiskStep | undefined])[] = [
  [
    new RegExp(`^pwrite64\\(${FD}, "(${HEX})", \\d+, (\\d+)\\) = \\d+$`),
    ([path = '', data = '', offset = '']) => ({
      kind: 'write',
      path: decode(path).toString(),
      offset: Number(offset),
      data: decode(data),
    }),
  ],
  [
    new RegExp(`^write\\(${FD}, "(${HEX})", \\d+\\) = \\d+$`),
    ([path = '', data = '']) => sent(path, decode(data)),
  ],
  [
    new RegExp(`^writev\\(${FD}, (\\[.*\\]), \\d+\\) = \\d+$`),
    ([path = '', parts = '']) =>
      sent(
        path,
        Buffer.concat(
          [...parts.matchAll(new RegExp(`iov_base="(${HEX})"`, 'g'))].map(([, data = '']) => decode(data)),
        ),
      ),
  ],
  [
    new RegExp(`^f(?:data)?sync\\(${FD}\\) = 0$`),
    ([path = '']) => ({ kind: 'sync', path: decode(path).toString() }),
  ],
  [
    new RegExp(`^ftruncate\\(${FD}, (\\d+)\\) = 0$`),
    ([path = '', size = '']) => ({ kind: 'truncate', path: decode(path).toString(), size: Number(size) }),
  ],
  [
    new RegExp(`^unlink\\("(${HEX})"\\) = 0$`),
    ([path = '']) => ({ kind: 'unlink', path: decode(path).toString() }),
  ],
  [
    new RegExp(`^rename\\("(${HEX})", "(${HEX})"\\) = 0$`),
    ([from = '', to = '']) => ({ kind: 'rename', from: decode(from).toString(), to: decode(to).toString() }),
  ],
]

function parseCall(call: string): DiskStep | undefined {
  for (const [shape, toStep] of CALLS) {
    const match = shape.exec(call)
    if (match) return toStep(match.slice(1))
  }
  return undefined
}

function sent(path: string, data: Buffer): DiskStep | undefined {
  return decode(path).toString().startsWith('socket:')
    ? { kind: 'sent', text: data.toString('latin1') }
    : undefined
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex')
}

/** A file as the disk and as the program see it: between the two lies what no sync has covered yet. */
interface DiskFile {
  durable: Buffer
  unsynced: Extract<DiskStep, { kind: 'write' | 'truncate' }>[]
}

/**
 * The files of one directory under a program whose steps are replayed. At any moment the power may go: what was not
 * synced is then kept, lost or torn, each write by chance.
 */
export class Disk {
  readonly #directory: string
  readonly #files = new Map<string, DiskFile>()

  constructor(directory: string, initial: Readonly<Record<string, Buffer>>) {
    this.#directory = directory
    for (const [name, durable] of Object.entries(initial)) this.#files.set(name, { durable, unsynced: [] })
  }

  apply(step: DiskStep): void {
    if (step.kind === 'sent') return
    if (step.kind === 'rename') return this.#rename(step.from, step.to)
    // Shared memory is rebuilt from the log after a crash.
    if (dirname(step.path) !== this.#directory || step.path.endsWith('-shm')) return
    const name = basename(step.path)
    // Forgetting a removal would bring back a log that has been done with.
    if (step.kind === 'unlink') this.#files.delete(name)
    else if (step.kind === 'sync') this.#sync(name)
    else this.#file(name).unsynced.push(step)
  }

  /** Writes the files as the next start finds them. */
  writeAfterPowerLoss(directory: string, chance: Chance): void {
    mkdirSync(directory, { recursive: true })
    for (const [name, file] of this.#files) {
      const content = file.unsynced.reduce((left, step) => afterLoss(left, step, chance), file.durable)
      writeFileSync(join(directory, name), content)
    }
  }

  #file(name: string): DiskFile {
    let file = this.#files.get(name)
    if (!file) this.#files.set(name, (file = { durable: Buffer.alloc(0), unsynced: [] }))
    return file
  }

  #sync(name: string): void {
    const file = this.#file(name)
    file.durable = file.unsynced.reduce(applied, file.durable)
    file.unsynced = []
  }

  #rename(from: string, to: string): void {
    const file = this.#files.get(basename(from))
    if (!file || dirname(to) !== this.#directory) return
    this.#files.delete(basename(from))
    this.#files.set(basename(to), file)
  }
}

function applied(content: Buffer, step: DiskFile['unsynced'][number]): Buffer {
  if (step.kind === 'truncate') return resized(content, step.size)
  const result = resized(content, Math.max(content.length, step.offset + step.data.length), true)
  step.data.copy(result, step.offset)
  return result
}

/** 40 % of the writes arrive, 40 % do not, and of 20 % some sectors do (reliability R-2). */
function afterLoss(content: Buffer, step: DiskFile['unsynced'][number], chance: Chance): Buffer {
  const fate = chance.number()
  if (fate < 0.4) return applied(content, step)
  if (fate < 0.8 || step.kind === 'truncate') return content
  let torn = content
  for (let start = 0; start < step.data.length; start += SECTOR) {
    if (chance.number() < 0.5) continue
    const data = step.data.subarray(start, start + SECTOR)
    torn = applied(torn, { ...step, offset: step.offset + start, data })
  }
  return torn
}

function resized(content: Buffer, size: number, copy = false): Buffer {
  if (content.length === size && !copy) return content
  const result = Buffer.alloc(size)
  content.copy(result, 0, 0, Math.min(size, content.length))
  return result
}
