import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const PLACES = { wanted: '/etc/fstab', mounted: '/proc/self/mountinfo' }

/**
 * The mount point of `/etc/fstab` at or above the path where nothing is mounted: what is found at the path then is not what is
 * on the disk. Undefined where there is none, and where the system does not say.
 */
export function findUnmountedPoint(path: string, { wanted, mounted } = PLACES): string | undefined {
  // fstab(5): device, mount point, type; proc_pid_mountinfo(5): id, parent, device, root, mount point
  const points = pointsIn(wanted, 1).filter((point) => point !== '/')
  const present = new Set(pointsIn(mounted, 4))
  if (present.size === 0) return undefined
  const own = resolve(path)
  return points.find((point) => isAtOrAbove(point, own) && !present.has(point))
}

/** Swap space has none. */
function pointsIn(file: string, column: number): string[] {
  return readText(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => unescape(line.split(/\s+/)[column] ?? ''))
    .filter((point) => point.startsWith('/'))
    .map((point) => resolve(point))
}

/** Both files write a space as `\040`. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

/** Whether the path is this directory, or in it. */
export function isAtOrAbove(point: string, path: string): boolean {
  return path === point || path.startsWith(`${point}/`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
