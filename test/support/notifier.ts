import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killGroup } from './process-group.ts'
import { startRobots, type RobotDoubles } from './robots.ts'
import { startSmtp, type SmtpServer } from './smtp.ts'
import { startTicketApi, type TicketApi } from './ticket-api.ts'

// Longer than any round, and shorter than the time limit of the test runner.
const TIMEOUT_MS = 300_000
// The test process keeps its compiled code there, and a round is so short that its start counts.
const COMPILED = process.env['NODE_COMPILE_CACHE']
const SOURCE = join(import.meta.dirname, '../../programs/ticket-notify/ticket-notify.ts')

export interface NotifierLine {
  readonly ts: string
  readonly level: string
  readonly module: string
  readonly message: string
  readonly [field: string]: unknown
}

export interface NotifierRun {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The lines of standard error, each one JSON. */
  readonly lines: readonly NotifierLine[]
  readonly done: NotifierLine | undefined
}

export interface RunningNotifier {
  readonly child: ChildProcess
  readonly ended: Promise<NotifierRun>
}

export interface NotifierWorld extends AsyncDisposable {
  readonly api: TicketApi
  readonly robots: RobotDoubles
  readonly smtp: SmtpServer
  readonly directory: string
  readonly stateFile: string
  /** Writes the secrets file with these channels, mode 600. */
  configure(channels: readonly ('mail' | 'robot')[]): void
  run(args?: readonly string[], options?: RunOptions): Promise<NotifierRun>
  start(args?: readonly string[], options?: RunOptions): RunningNotifier
  /** The state file's content. */
  state(): Readonly<Record<string, { readonly status: string; readonly updated_at: string }>>
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The program before the notifier's arguments; by default the source with this Node.js. */
  readonly command?: readonly [program: string, ...args: string[]]
}

/** A notifier with servers for tickets, mail and robots, and its own directory. */
export async function notifierWorld(): Promise<NotifierWorld> {
  const [api, robots, smtp] = await Promise.all([startTicketApi(), startRobots(), startSmtp()])
  const directory = mkdtempSync(join(tmpdir(), 'platform-notifier-'))
  const stateFile = join(directory, 'state', 'ticket-notify-state.json')
  const children = new Set<ChildProcess>()
  const secretsFile = join(directory, 'notify.env')
  const keys = {
    mail: [`MAIL_SMTP_URL=${smtp.url()}`, 'MAIL_FROM=platform@example.com', 'MAIL_TO=ops@example.com'],
    robot: [
      `ROBOT_URL=${robots.url('generic')}`,
      'ROBOT_KIND=generic',
      `ROBOT_SECRET=${robots.secrets.generic}`,
    ],
  }

  function start(
    args: readonly string[] = [],
    { env = {}, command = [process.execPath, SOURCE] }: RunOptions = {},
  ) {
    const [program, ...before] = command
    const child = spawn(program, [...before, ...args], {
      cwd: directory,
      // No other variable of the caller reaches the program.
      env: {
        PATH: process.env['PATH'],
        ...(COMPILED && { NODE_COMPILE_CACHE: COMPILED }),
        PLATFORM_API: api.url,
        OPS_DIR: join(directory, 'state'),
        NOTIFY_ENV_FILE: secretsFile,
        NODE_EXTRA_CA_CERTS: smtp.certificateFile,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group: a program started by a tracer must end with the tracer.
      detached: true,
    })
    children.add(child)
    const ended = resultOf(child).finally(() => children.delete(child))
    // A failed test does not await it.
    ended.catch(() => {})
    return { child, ended }
  }

  return {
    api,
    robots,
    smtp,
    directory,
    stateFile,
    configure(channels) {
      const lines = channels.flatMap((channel) => keys[channel])
      writeFileSync(secretsFile, `${lines.join('\n')}\n`, { mode: 0o600 })
    },
    run: (args, options) => start(args, options).ended,
    start,
    state: () => JSON.parse(readFileSync(stateFile, 'utf8')) as ReturnType<NotifierWorld['state']>,
    async [Symbol.asyncDispose]() {
      for (const child of children) killGroup(child)
      await Promise.all([api, robots, smtp].map((each) => each[Symbol.asyncDispose]()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function resultOf(child: ChildProcess): Promise<NotifierRun> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const closed = once(child, 'close', { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const [code, signal] = (await closed.catch((cause: unknown) => {
    killGroup(child)
    throw new Error(`not ended within ${TIMEOUT_MS} ms, and killed; its standard error: ${stderr}`, { cause })
  })) as Ending
  const lines = stderr.split('\n').filter(Boolean).map(parseLine)
  return { code, signal, stdout, stderr, lines, done: lines.find(({ message }) => message === 'round done') }
}

type Ending = [code: number | null, signal: NodeJS.Signals | null]

function parseLine(line: string): NotifierLine {
  try {
    return JSON.parse(line) as NotifierLine
  } catch (error) {
    throw new Error(`a line on standard error is not JSON: ${line}`, { cause: error })
  }
}
