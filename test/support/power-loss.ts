import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Chance } from './random.ts'

// A disk writes a sector atomically; a larger write may be torn by a power loss.
const SECTOR = 512

/** The system calls of a recording: those that change files, sync them, and send to clients. */
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

/** The wrapper command that records the system calls of a program. */
export function recorder(recording: string): readonly [program: string, ...options: string[]] {
  const format = ['-f', '-D', '-qq', '-xx', '-y', '-s', '1000000']
  return ['strace', ...format, '-o', recording, '-e', `trace=${TRACED_CALLS.join(',')}`]
}

/** One operation of a program on files and sockets. */
export type DiskStep =
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  /** A write at the end of the file. */
  | { readonly kind: 'append'; readonly path: string; readonly data: Buffer }
  | { readonly kind: 'copy'; readonly from: string; readonly path: string; readonly length: number }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'sent'; readonly text: string }

/**
 * Reads the recording of {@link recorder}. A call that strace has split is placed at its end: only from there on its
 * effect is guaranteed.
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

/** One expression for each call, with its path and its other parameters as groups. Only successful calls match. */
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
    ([path = '', data = '']) => writeStep(text(path), decode(data)),
  ],
  [
    new RegExp(`^writev\\(${FD}, (\\[.*\\]), \\d+\\) = \\d+$`),
    ([path = '', parts = '']) =>
      writeStep(
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

function writeStep(path: string, data: Buffer): DiskStep {
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

/** A file: its durable content on the disk, and the changes that are not yet synced. */
interface File {
  durable: Buffer
  unsynced: Change[]
  /** The size including the unsynced changes. */
  size: number
}

type AppendStep = Extract<DiskStep, { kind: 'append' }>
type Names = ReadonlyMap<string, File>
/** The effect of one call on the names; it is atomic. */
type NameChange = (names: Map<string, File>) => void

/**
 * Simulates the files of one directory while the steps of a program are replayed. A power loss keeps, loses or tears
 * each unsynced write at random; of the unsynced changes of names it keeps a random prefix.
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
    // A removal changes the names: without it an obsolete log would reappear.
    if (step.kind === 'unlink') this.#changeNames((names) => void names.delete(name))
    else if (step.kind === 'sync') sync(this.#file(name))
    else if (step.kind === 'copy') change(this.#file(name), this.#copied(step))
    else change(this.#file(name), step)
  }

  /** Writes the files that remain after a power loss. */
  writeAfterPowerLoss(directory: string, chance: Chance): void {
    mkdirSync(directory, { recursive: true })
    const names = new Map(this.#lastingNames)
    for (const each of this.#unsyncedNames.slice(0, chance.between(0, this.#unsyncedNames.length)))
      each(names)
    for (const [name, { durable, unsynced }] of names) {
      const content = unsynced.reduce((left, each) => afterLoss(left, each, chance), durable)
      writeFileSync(join(directory, name), content, { mode: 0o600 })
    }
  }

  #copied({ from, path, length }: Extract<DiskStep, { kind: 'copy' }>): AppendStep {
    const source = this.#file(basename(from))
    return { kind: 'append', path, data: source.unsynced.reduce(applied, source.durable).subarray(0, length) }
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
  file.durable = file.unsynced.reduce(applyToContent, file.durable)
  file.unsynced = []
}

function applyToContent(content: Buffer, step: Change): Buffer {
  if (step.kind === 'truncate') return resized(content, step.size)
  const result = resized(content, Math.max(content.length, step.offset + step.data.length), true)
  step.data.copy(result, step.offset)
  return result
}

/** 40 % of the writes are kept, 40 % lost, and of 20 % some sectors are kept (docs/reliability.md, R-2). */
function afterLoss(content: Buffer, step: Change, chance: Chance): Buffer {
  const fate = chance.number()
  if (fate < 0.4) return applyToContent(content, step)
  if (fate < 0.8 || step.kind === 'truncate') return content
  let torn = content
  for (let start = 0; start < step.data.length; start += SECTOR) {
    if (chance.number() < 0.5) continue
    const data = step.data.subarray(start, start + SECTOR)
    torn = applyToContent(torn, { ...step, offset: step.offset + start, data })
  }
  return torn
}

function resized(content: Buffer, size: number, copy = false): Buffer {
  if (content.length === size && !copy) return content
  const result = Buffer.alloc(size)
  content.copy(result, 0, 0, Math.min(size, content.length))
  return result
}
