import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import type { Environment } from '../../config/env.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'

/** Reports the state of this process to systemd, as units with `Type=notify` require. */
interface ServiceManager extends Disposable {
  /** All listeners are open. From now on the watchdog is kept from ending this process. */
  ready(): void
  stopping(): void
}

/** Sends assignments such as `READY=1`; see sd_notify(3). */
type Notify = (state: readonly string[]) => Promise<void>

const MICROSECONDS_PER_MS = 1_000
/** systemd ends a process that is silent for the whole time; two reports may be lost. */
const REPORTS_PER_WATCHDOG = 3
/** The program ends at once, or after 5 s without an answer of systemd; one that hangs is killed. */
const NOTIFY_LIMIT_MS = 10_000

/** Connects to the service manager that started this process; without one, nothing is reported. */
export function connectServiceManager(
  { NOTIFY_SOCKET, WATCHDOG_USEC }: Environment,
  logger: Logger,
  notify: Notify = systemdNotify,
): ServiceManager {
  const send = async (...state: string[]) => {
    if (!NOTIFY_SOCKET) return
    try {
      await notify(state)
    } catch (error) {
      logger.warn({ state, error: errorMessage(error) }, 'the service manager was not notified')
    }
  }
  let watchdog: NodeJS.Timeout | undefined
  let isReporting = false
  const keepAlive = async () => {
    // The next report says the same.
    if (isReporting) return
    isReporting = true
    await send('WATCHDOG=1')
    isReporting = false
  }
  return {
    ready() {
      void send('READY=1')
      const periodMs = Number(WATCHDOG_USEC ?? 0) / MICROSECONDS_PER_MS / REPORTS_PER_WATCHDOG
      // A stuck event loop runs no timer, so systemd restarts the process.
      if (periodMs > 0) watchdog = setInterval(() => void keepAlive(), periodMs).unref()
    },
    stopping: () => void send('STOPPING=1'),
    [Symbol.dispose]: () => clearInterval(watchdog),
  }
}

/** Node.js has no datagram sockets of the family AF_UNIX, so the program of systemd sends them. */
async function systemdNotify(state: readonly string[]): Promise<void> {
  await run('systemd-notify', [...state], { timeout: NOTIFY_LIMIT_MS, killSignal: 'SIGKILL' })
}

const run = promisify(execFile)

/** The lines of an error with its priority in the journal, which journald takes off: sd-daemon(3). */
export function journalError(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '<3>')
}
