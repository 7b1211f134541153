import { OpenDirectory } from '../open-directory.ts'

const BLOCK_BYTES = 512n
// Each level of the walk keeps its directory open.
export const MAX_DEPTH = 128

/** The space that the removal of a file frees: none while it has another name. */
export function bytesOf({ nlink, blocks }: { readonly nlink: bigint; readonly blocks: bigint }): number {
  return nlink === 1n ? Number(blocks * BLOCK_BYTES) : 0
}

/** The space of all files below the directories, without following links or leaving their mounts. */
export async function diskUsage(paths: readonly string[], signal?: AbortSignal): Promise<number> {
  let bytes = 0
  for (const path of paths) {
    using directory = OpenDirectory.open(path)
    if (directory) bytes += await usageOf(directory, 0, signal)
  }
  return bytes
}

async function usageOf(directory: OpenDirectory, depth: number, signal?: AbortSignal): Promise<number> {
  let bytes = 0
  for await (const name of directory.names(signal)) {
    const stats = directory.stat(name)
    if (stats?.isFile()) bytes += bytesOf(stats)
    if (!stats?.isDirectory() || depth === MAX_DEPTH) continue
    using child = directory.child(name)
    if (child?.isOnMountOf(directory)) bytes += await usageOf(child, depth + 1, signal)
  }
  return bytes
}
