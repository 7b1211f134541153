// Writes the ticket notifier as it is installed: two files that need nothing but Node.js.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'programs/ticket-notify')

/** Each file for itself: what both need is in both, so that neither stands or falls with a third. */
const FILES = [
  { input: 'ticket-notify.ts', output: 'ticket-notify.mjs' },
  { input: 'notify.ts', output: 'notify.mjs' },
] as const

// The oldest Node.js of a system on which the notifier is installed alone.
const TARGET = 'node20'

/** Builds both files into a directory. */
export async function buildTicketNotify(directory: string): Promise<void> {
  for (const { input, output } of FILES) {
    const file = join(directory, output)
    await build({
      input: join(SOURCE, input),
      platform: 'node',
      transform: { target: TARGET },
      output: { file, format: 'esm', codeSplitting: false, comments: false },
    })
    chmodSync(file, 0o755)
  }
}

if (import.meta.main) await buildTicketNotify(join(ROOT, 'dist/ticket-notify'))
