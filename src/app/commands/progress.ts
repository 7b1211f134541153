import { SECOND } from '../../kernel/time.ts'
import type { CommandContext } from './context.ts'

const AFTER_MS = 2 * SECOND
const EVERY_MS = SECOND / 4
const CLEAR_LINE = '\r\u001b[K'

/** Awaits a step of a command; on a terminal one line shows the step (`what`, asked again each time if it is a function) and its time once it takes longer than two seconds. */
export async function withProgress<T>(
  { stderr }: CommandContext,
  what: string | (() => string),
  step: Promise<T>,
): Promise<T> {
  if (!stderr.isTTY) return step
  const begin = performance.now()
  const show = () => {
    const elapsedMs = performance.now() - begin
    if (elapsedMs < AFTER_MS) return
    const text = typeof what === 'string' ? what : what()
    stderr.write(`${CLEAR_LINE}${text}: ${Math.floor(elapsedMs / SECOND)} s`)
  }
  const timer = setInterval(show, EVERY_MS)
  try {
    return await step
  } finally {
    clearInterval(timer)
    if (performance.now() - begin >= AFTER_MS) stderr.write(CLEAR_LINE)
  }
}
