import type { Output } from './output.ts'

type Fields = Readonly<Record<string, unknown>>

/** One JSON line per event. INFO: it happened; WARN: something may be missing; ERROR: a person must act. */
export interface Log {
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}

export function createLog(output: Pick<Output, 'write'>, now: () => number): Log {
  const logAt =
    (level: string) =>
    (message: string, fields: Fields = {}) => {
      const line = { ts: new Date(now()).toISOString(), level, module: 'ticket-notify', message, ...fields }
      output.write(`${JSON.stringify(line)}\n`)
    }
  return { info: logAt('INFO'), warn: logAt('WARN'), error: logAt('ERROR') }
}
