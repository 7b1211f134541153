import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { CommandContext } from '../../src/app/commands/context.ts'
import { migrateDatabase } from '../../src/app/commands/db.ts'
import { runDoctor } from '../../src/app/commands/doctor.ts'
import type { DoctorFinding } from '../../src/app/doctor/doctor.ts'
import { temporaryDirectory } from './platform.ts'

/** The width of the terminal. */
export const COLUMNS = 100

interface Report {
  readonly status: string
  readonly findings: readonly DoctorFinding[]
}

/** A server with a data directory, on which the doctor runs. */
export function doctorWorld(t: TestContext) {
  const directory = temporaryDirectory()
  t.after(() => directory[Symbol.dispose]())
  const dataDir = join(directory.path, 'data')
  const run = async <T>(
    command: (context: CommandContext) => Promise<T>,
    env: Readonly<Record<string, string>>,
    isTTY = false,
  ) => {
    const stdout = Object.assign(new PassThrough(), { isTTY, columns: isTTY ? COLUMNS : undefined })
    const stderr = new PassThrough()
    const context = {
      env: { DATA_DIR: dataDir, BUS_SERVER: 'nats://127.0.0.1:1', LISTEN_ADDR: '127.0.0.1:0', ...env },
      cwd: directory.path,
      stdin: Readable.from([]),
      stdout,
      stderr,
    }
    const result = await command({ ...context, env: { GATEWAY_LISTEN_ADDR: '127.0.0.1:0', ...context.env } })
    stdout.end()
    stderr.end()
    return { result, output: await text(stdout), errors: await text(stderr) }
  }
  return {
    dataDir,
    /** Runs a command; resolves with its result and what it has printed. */
    run,
    migrate: () => run((context) => migrateDatabase(context, {}), {}),
    table: (isTTY = false) => run((context) => runDoctor(context, {}), {}, isTTY),
    async examine(env: Readonly<Record<string, string>> = {}) {
      const { result, output } = await run((context) => runDoctor(context, { json: true }), env)
      const report = JSON.parse(output) as Report
      const of = (check: string) => report.findings.filter((finding) => finding.check === check)
      return { exitCode: result, report, of }
    },
  }
}
