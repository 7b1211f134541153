import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Chance } from './random.ts'

// A disk writes a sector as a whole; a power loss may tear anything larger.
const SECTOR = 512

/** The system calls of a recording: changes of files, syncs, and answers to clients. */
const TRACED_CALLS = [
  'pwrite64',
  'write',
  'writev',
  'fsync',
  'fdatasync',
  'ftruncate',
  'copy_file_range',
  'unlink',
  'rename',
  'link',
] as const

/** The command that records a program; it goes before the program's own command. */
export function recorder(recording: string): readonly [program: string, ...options: string[]] {
  const format = ['-f', '--seccomp-bpf', '-D', '-qq', '-xx', '-y', '-s', '1000000']
  return ['strace', ...format, '-o', recording, '-e', `trace=${TRACED_CALLS.join(',')}`]
}

/** What a program has done to files and sockets, in order. */
export type DiskStep =
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  /** At the end of the file. */
  | { readonly kind: 'append'; readonly path: string; readonly data: Buffer }
  | { readonly kind: 'copy'; readonly from: string; readonly path: string; readonly length: number }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'sent'; readonly text: string }

/**
 * Reads the output of {@link recorder}. A call during which another thread was recorded counts from its end: only then
 * has the system confirmed it.
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
    // strace pads a resumed call.
    const step = parseCall(whole.replace(/\) += /, ') = '))
    if (step) steps.push(step)
  }
  return steps
}

const HEX = '(?:\\\\x[0-9a-f]{2})*'
const FD = `\\d+<(${HEX})>`

/** One expression for each call; its groups are the path and the arguments in use. Only successful calls match. */
const CALLS: readonly (readonly [RegExp, (groups: string[]) => DiskStep | undefined])[] = [
  [
    new RegExp(`^pwrite64\\(${FD}, "(${HEX})", \\d+, (\\d+)\\) = \\d+$`),
    ([path = '', data = '', offset = '']) => ({
      kind: 'write',
      path: text(path),
      offset: Number(offset),
      data: decode(data),
    }),
  ],
  [
    new RegExp(`^write\\(${FD}, "(${HEX})", \\d+\\) = \\d+$`),
    ([path = '', data = '']) => appendStep(text(path), decode(data)),
  ],
  [
    new RegExp(`^writev\\(${FD}, (\\[.*\\]), \\d+\\) = \\d+$`),
    ([path = '', parts = '']) =>
      appendStep(
        text(path),
        Buffer.concat(
          [...parts.matchAll(new RegExp(`iov_base="(${HEX})"`, 'g'))].map(([, data = '']) => decode(data)),
        ),
      ),
  ],
  [new RegExp(`^f(?:data)?sync\\(${FD}\\) = 0$`), ([path = '']) => ({ kind: 'sync', path: text(path) })],
  [
    new RegExp(`^ftruncate\\(${FD}, (\\d+)\\) = 0$`),
    ([path = '', size = '']) => ({ kind: 'truncate', path: text(path), size: Number(size) }),
  ],
  [
    // From its beginning: how Node.js copies a file.
    new RegExp(`^copy_file_range\\(${FD}, \\[0\\], ${FD}, NULL, \\d+, 0\\) = ([1-9]\\d*)$`),
    ([from = '', path = '', length = '']) => ({
      kind: 'copy',
      from: text(from),
      path: text(path),
      length: Number(length),
    }),
  ],
  [new RegExp(`^unlink\\("(${HEX})"\\) = 0$`), ([path = '']) => ({ kind: 'unlink', path: text(path) })],
  [
    new RegExp(`^rename\\("(${HEX})", "(${HEX})"\\) = 0$`),
    ([from = '', to = '']) => ({ kind: 'rename', from: text(from), to: text(to) }),
  ],
  [
    new RegExp(`^link\\("(${HEX})", "(${HEX})"\\) = 0$`),
    ([from = '', to = '']) => ({ kind: 'link', from: text(from), to: text(to) }),
  ],
]

function parseCall(call: string): DiskStep | undefined {
  for (const [shape, toStep] of CALLS) {
    const match = shape.exec(call)
    if (match) return toStep(match.slice(1))
  }
  return undefined
}

function appendStep(path: string, data: Buffer): DiskStep {
  return path.startsWith('socket:')
    ? { kind: 'sent', text: data.toString('latin1') }
    : { kind: 'append', path, data }
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex')
}

function text(hex: string): string {
  return decode(hex).toString()
}

type Change =
  | { readonly kind: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly size: number }

/** A file as it is on the disk, with the changes that the program sees and no sync has covered yet. */
interface File {
  durable: Buffer
  unsynced: Change[]
  /** Size in the program's view. */
  size: number
}

type AppendStep = Extract<DiskStep, { kind: 'append' }>
type Names = ReadonlyMap<string, File>
/** The change of the names by one call; it is on the disk as a whole or not at all. */
type NameChange = (names: Map<string, File>) => void

/**
 * The files of one directory while the steps of a program are replayed. After a power loss each write that was not
 * synced is kept, lost or torn, by chance; of the changes of names since the last sync of the directory, the first ones
 * are kept.
 */
export class Disk {
  readonly #directory: string
  readonly #names: Map<string, File>
  #lastingNames: Names
  #unsyncedNames: NameChange[] = []

  constructor(directory: string, initial: Readonly<Record<string, Buffer>> = {}) {
    this.#directory = directory
    this.#names = new Map(
      Object.entries(initial).map(([name, durable]) => [
        name,
        { durable, unsynced: [], size: durable.length },
      ]),
    )
    this.#lastingNames = new Map(this.#names)
  }

  apply(step: DiskStep): void {
    if (step.kind === 'sent') return
    if (step.kind === 'rename' || step.kind === 'link') return this.#name(step)
    if (step.kind === 'sync' && step.path === this.#directory) return this.#syncNames()
    // SQLite rebuilds the shared memory from the log after a crash.
    if (dirname(step.path) !== this.#directory || step.path.endsWith('-shm')) return
    const name = basename(step.path)
    // Without this a removed log would be back after the power loss.
    if (step.kind === 'unlink') this.#changeNames((names) => void names.delete(name))
    else if (step.kind === 'sync') sync(this.#file(name))
    else if (step.kind === 'copy') change(this.#file(name), this.#copied(step))
    else change(this.#file(name), step)
  }

  /** Writes the files as the next start finds them. */
  writeAfterPowerLoss(directory: string, chance: Chance): void {
    mkdirSync(directory, { recursive: true })
    const names = new Map(this.#lastingNames)
    for (const each of this.#unsyncedNames.slice(0, chance.between(0, this.#unsyncedNames.length)))
      each(names)
    for (const [name, { durable, unsynced }] of names) {
      const kept = unsynced.flatMap((each) => afterLoss(each, chance))
      writeFileSync(join(directory, name), applyChanges(durable, kept), { mode: 0o600 })
    }
  }

  #copied({ from, path, length }: Extract<DiskStep, { kind: 'copy' }>): AppendStep {
    const source = this.#file(basename(from))
    return { kind: 'append', path, data: applyChanges(source.durable, source.unsynced).subarray(0, length) }
  }

  #file(name: string): File {
    const known = this.#names.get(name)
    if (known) return known
    const file: File = { durable: Buffer.alloc(0), unsynced: [], size: 0 }
    this.#changeNames((names) => void names.set(name, file))
    return file
  }

  #name({ kind, from, to }: { kind: 'rename' | 'link'; from: string; to: string }): void {
    const file = this.#names.get(basename(from))
    if (!file || dirname(from) !== this.#directory || dirname(to) !== this.#directory) return
    this.#changeNames((names) => {
      names.set(basename(to), file)
      if (kind === 'rename') names.delete(basename(from))
    })
  }

  #changeNames(each: NameChange): void {
    each(this.#names)
    this.#unsyncedNames.push(each)
  }

  #syncNames(): void {
    this.#lastingNames = new Map(this.#names)
    this.#unsyncedNames = []
  }
}

function change(file: File, step: Extract<DiskStep, { kind: 'write' | 'append' | 'truncate' }>): void {
  if (step.kind === 'truncate') {
    file.unsynced.push(step)
    file.size = step.size
    return
  }
  const offset = step.kind === 'append' ? file.size : step.offset
  file.unsynced.push({ kind: 'write', offset, data: step.data })
  file.size = Math.max(file.size, offset + step.data.length)
}

function sync(file: File): void {
  file.durable = applyChanges(file.durable, file.unsynced)
  file.unsynced = []
}

/** A copy of the content with these changes. */
function applyChanges(content: Buffer, changes: readonly Change[]): Buffer {
  const result = Buffer.alloc(changes.reduce((most, each) => Math.max(most, endOf(each)), content.length))
  content.copy(result)
  let size = content.length
  for (const each of changes) {
    if (each.kind === 'truncate') {
      result.fill(0, each.size, size)
      size = each.size
    } else {
      each.data.copy(result, each.offset)
      size = Math.max(size, endOf(each))
    }
  }
  return result.subarray(0, size)
}

function endOf(each: Change): number {
  return each.kind === 'truncate' ? each.size : each.offset + each.data.length
}

/**
 * What is left of a change: 40 % of the changes are kept, 40 % are lost, and 20 % keep some sectors
 * (docs/reliability.md, R-2: power loss).
 */
function afterLoss(step: Change, chance: Chance): Change[] {
  const fate = chance.number()
  if (fate < 0.4) return [step]
  if (fate < 0.8 || step.kind === 'truncate') return []
  const sectors: Change[] = []
  for (let start = 0; start < step.data.length; start += SECTOR) {
    if (chance.number() < 0.5) continue
    const data = step.data.subarray(start, start + SECTOR)
    sectors.push({ kind: 'write', offset: step.offset + start, data })
  }
  return sectors
}
