import type { Output } from './output.ts'

type Fields = Readonly<Record<string, unknown>>

/** One JSON line per event. INFO: it happened; WARN: something may be missing; ERROR: a person must act. */
export interface Log {
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}

/** With `priorities` a line begins with that of its level, which journald takes off: sd-daemon(3). */
export function createLog(output: Pick<Output, 'write'>, now: () => number, priorities = false): Log {
  const logAt =
    (level: string, priority = '') =>
    (message: string, fields: Fields = {}) => {
      const line = { ts: new Date(now()).toISOString(), level, module: 'ticket-notify', message, ...fields }
      output.write(`${priorities ? priority : ''}${JSON.stringify(line)}\n`)
    }
  return { info: logAt('INFO'), warn: logAt('WARN', '<4>'), error: logAt('ERROR', '<3>') }
}
