import { VERSION } from '../version.ts'
import type { CommandContext } from './context.ts'

/** `platform version` */
export function showVersion({ stdout }: CommandContext): void {
  stdout.write(`platform ${VERSION} (Node.js ${process.version})\n`)
}
