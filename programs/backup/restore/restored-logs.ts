import { join } from 'node:path'
import { transientChunks } from '../package/file-chunks.ts'
import { leftOutText } from '../package/left-out.ts'
import type { PackageManifest } from '../package/manifest.ts'
import { countText, sizeText } from './words.ts'

const NEWLINE = 0x0a

/** Reads every log of an unpacked package to its end. */
export async function readRestoredLogs(
  directory: string,
  { files, left_out: leftOut }: PackageManifest,
): Promise<string> {
  const logs = files.filter(({ path }) => path.startsWith('logs/') || path === 'journal.export')
  let [bytes, lines] = [0, 0]
  for (const { path } of logs) {
    for await (const chunk of transientChunks(join(directory, path))) {
      bytes += chunk.length
      lines += countOf(chunk, NEWLINE)
    }
  }
  const found =
    logs.length === 0
      ? 'the package has no logs'
      : [countText(logs.length, 'file'), sizeText(bytes), countText(lines, 'line')].join(', ')
  return leftOut ? `${found}; ${leftOutText(leftOut)}` : found
}

function countOf(bytes: Uint8Array, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count++
  return count
}
