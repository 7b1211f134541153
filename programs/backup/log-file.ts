import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../src/kernel/clock.ts'
import { errorMessage } from '../../src/kernel/errors.ts'
import type { LogFields, Logger } from '../../src/kernel/logger.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'

const LEVELS = { error: 'ERROR', warn: 'WARN', info: 'INFO' } as const

export interface LogFileDeps {
  readonly clock: Clock
  /** Called once, when the file cannot be written. */
  readonly onFailure: (message: string) => void
}

/** One JSON line per event in a file that is created when it is needed. A log that cannot be written fails no run. */
export function createLogFile(path: string, { clock, onFailure }: LogFileDeps): Logger {
  let hasFailed = false
  const append = (line: object) => {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o640 })
    } catch (error) {
      if (!hasFailed) onFailure(`${path} cannot be written: ${errorMessage(error)}`)
      hasFailed = true
    }
  }
  const withFields = (common: LogFields): Logger => {
    const at = (level: string) => (fields: LogFields, message: string) => {
      append({
        ts: toRfc3339(clock.now()),
        level,
        module: 'backup',
        message,
        ...common,
        ...withErrorTexts(fields),
      })
    }
    return {
      error: at(LEVELS.error),
      warn: at(LEVELS.warn),
      info: at(LEVELS.info),
      debug: () => undefined,
      child: (fields) => withFields({ ...common, ...fields }),
    }
  }
  return withFields({})
}

/** An error has no members that JSON shows. */
function withErrorTexts(fields: LogFields): LogFields {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Error ? (value.stack ?? value.message) : value]),
  )
}
