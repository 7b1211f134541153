// Builds the ticket notifier for installation: two files that need nothing but Node.js.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { OLDEST_NODE_MAJOR } from '../programs/ticket-notify/node-version.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'programs/ticket-notify')

/**
 * Shared code is in both files, so that there is no third. `target` is the version of Node.js that must be able to parse
 * the file: an old Node.js has to parse the first one to report that it is too old.
 */
const FILES = [
  { input: 'ticket-notify.ts', output: 'ticket-notify.mjs', target: 'node12' },
  { input: 'notify.ts', output: 'notify.mjs', target: `node${OLDEST_NODE_MAJOR}` },
] as const

/** Builds both files into a directory. */
export async function buildTicketNotify(directory: string): Promise<void> {
  for (const { input, output, target } of FILES) {
    const file = join(directory, output)
    await build({
      input: join(SOURCE, input),
      platform: 'node',
      transform: { target },
      output: { file, format: 'esm', codeSplitting: false, comments: false },
    })
    chmodSync(file, 0o755)
  }
}

if (import.meta.main) await buildTicketNotify(join(ROOT, 'dist/ticket-notify'))
