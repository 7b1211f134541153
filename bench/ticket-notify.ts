import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildTicketNotify } from '../scripts/build-ticket-notify.ts'
import { notifierWorld, type NotifierRun, type NotifierWorld } from '../test/support/notifier.ts'
import { ticket } from '../test/support/ticket-api.ts'
import type { Bench } from './support/bench.ts'
import type { Measure } from './support/measure.ts'
import { spreadOf } from './support/statistics.ts'

const TICKETS = 500
const NOTIFICATIONS = 20
const SIZES = { large: 100_000, small: 10_000 } as const

// The peak of the process itself; getrusage starts with the peak of its parent.
const PEAK_REPORTER = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs'
  process.on('exit', () => {
    const peak = Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    const used = { kilobytes: peak, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 }
    process.stderr.write(JSON.stringify({ message: 'used', ...used }) + '\\n')
  })
`)}`

// The least work of any program that stores its state in one file: read the file, and write it once.
const LEAST = `
  const { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } = require('node:fs')
  const state = readFileSync(process.argv[1])
  const file = openSync(process.argv[1] + '.least', 'w')
  writeSync(file, state)
  fsyncSync(file)
  closeSync(file)
  renameSync(process.argv[1] + '.least', process.argv[1])
`

interface Sample {
  /** From the start of the process to its end, less what was spent on sending. */
  readonly seconds: number
  /** The same of the least program, just before. */
  readonly leastSeconds: number
  /** Time of the processor, sending included: what a busy machine changes least. */
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

/** The released notifier: a round of 500 tickets, 20 of which are sent by mail and robot, with a large state file. */
export const ticketNotify: Bench = {
  name: 'ticket-notify',
  title: 'P10: a round of the ticket notifier',
  summary: 'a round of 500 tickets over a state of 100,000, its time besides sending and its memory',

  async run({ rounds, signal, onSlice }) {
    const directory = mkdtempSync(join(tmpdir(), 'platform-bench-notifier-'))
    try {
      await buildTicketNotify(directory)
      const samples = { large: [] as Sample[], small: [] as Sample[] }
      for (let round = 1; round <= rounds; round++) {
        for (const size of ['large', 'small'] as const) {
          signal.throwIfAborted()
          onSlice(`round ${round} of ${rounds}: ${SIZES[size]} entries`)
          samples[size].push(await sample(directory, SIZES[size]))
        }
      }
      return measuresOf(samples)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
}

function measuresOf({ large, small }: Readonly<Record<keyof typeof SIZES, readonly Sample[]>>): Measure[] {
  const seconds = (samples: readonly Sample[]) => spreadOf(samples.map((each) => each.seconds))
  const processor = (samples: readonly Sample[]) => spreadOf(samples.map((each) => each.cpuSeconds))
  const memory = (samples: readonly Sample[]) => spreadOf(samples.map((each) => each.peakMegabytes))
  const toLeast = ({ seconds: ours, leastSeconds }: Sample) => ours / leastSeconds
  return [
    { what: '100,000 entries: besides sending ÷ least', values: spreadOf(large.map(toLeast)) },
    {
      what: '100,000 entries: besides sending',
      unit: 'seconds',
      values: seconds(large),
      must: { atMost: 1 },
    },
    {
      what: '100,000 entries: processor, sending included',
      unit: 'seconds of a core',
      values: processor(large),
    },
    { what: '100,000 entries: peak memory', unit: 'MB', values: memory(large), must: { atMost: 120 } },
    { what: '10,000 entries: besides sending ÷ least', values: spreadOf(small.map(toLeast)) },
    { what: '10,000 entries: besides sending', unit: 'seconds', values: seconds(small) },
    {
      what: '10,000 entries: processor, sending included',
      unit: 'seconds of a core',
      values: processor(small),
    },
    { what: '10,000 entries: peak memory', unit: 'MB', values: memory(small) },
  ]
}

async function sample(directory: string, entries: number): Promise<Sample> {
  await using w = await notifierWorld()
  w.configure(['mail', 'robot'])
  remember(w, entries)
  w.api.tickets = Array.from({ length: TICKETS }, (_, n) =>
    ticket(idOf(n), { title: titleOf(n), ...(n < NOTIFICATIONS && { status: 'resolved' }) }),
  )
  const least = await measureRun(() => w.run([w.stateFile], { command: [process.execPath, '--eval', LEAST] }))
  const round = await measureRun(() =>
    w.run([], {
      command: [process.execPath, join(directory, 'ticket-notify.mjs')],
      env: { NODE_OPTIONS: `--import=${PEAK_REPORTER}` },
    }),
  )
  if (least.run.code !== 0) throw new Error(`the least program failed:\n${least.run.stderr}`)
  const { sendingSeconds, ...figures } = figuresOf(round.run)
  return { seconds: round.seconds - sendingSeconds, leastSeconds: least.seconds, ...figures }
}

async function measureRun(start: () => Promise<NotifierRun>) {
  const startedAt = performance.now()
  const run = await start()
  return { run, seconds: (performance.now() - startedAt) / 1_000 }
}

function figuresOf({ code, done, lines, stderr }: NotifierRun) {
  const used = lines.find(({ message }) => message === 'used')
  const kilobytes = Number(used?.['kilobytes'])
  if (code !== 0 || done?.['sent'] !== NOTIFICATIONS || !(kilobytes > 0)) {
    throw new Error(`the round did not go as it should:\n${stderr.slice(-2_000)}`)
  }
  return {
    sendingSeconds: Number(done['sending_ms']) / 1_000,
    cpuSeconds: Number(used?.['cpuSeconds']),
    peakMegabytes: (kilobytes * 1_024) / 1e6,
  }
}

/** A state file as earlier rounds have left it, over the last four weeks. */
function remember({ stateFile }: NotifierWorld, entries: number): void {
  const now = Date.now()
  const spacingMs = (28 * 86_400_000) / entries
  const lines = Array.from({ length: entries }, (_, n) => {
    const updated_at = new Date(now - n * spacingMs).toISOString()
    return `${JSON.stringify(idOf(n))}:${JSON.stringify({ status: 'open', level: 'high', title: titleOf(n), updated_at })}`
  })
  mkdirSync(dirname(stateFile), { recursive: true })
  writeFileSync(stateFile, `{\n${lines.join(',\n')}\n}\n`, { mode: 0o600 })
}

const idOf = (n: number) => `019a8f00-0000-7000-8000-${String(n).padStart(12, '0')}`
const titleOf = (n: number) => `磁盘 disk almost full on db-${n}`
