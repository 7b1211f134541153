import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../../src/kernel/errors.ts'

/** The file system that the routine is installed in: that of this host, or an image below a directory. */
export class TargetRoot {
  readonly #directory: string | undefined
  /** Whether systemd of this host starts what is installed. */
  readonly isHost: boolean

  /** `directory`: `--root`. */
  constructor(directory: string | undefined, isHost = directory === undefined) {
    this.isHost = isHost
    const path = directory === undefined ? undefined : resolve(directory)
    if (path !== undefined && !existsSync(path))
      throw new AppError('invalid', 'root_missing', `--root: there is no directory ${path}`)
    this.#directory = path
  }

  /** Where a path of the target is on this host. Throws an error if a link leads out of the image. */
  locate(path: string): string {
    if (this.#directory === undefined) return path
    const located = join(this.#directory, path)
    const root = realpathSync(this.#directory)
    const real = realpathSync(nearestDirectory(dirname(located)))
    if (`${real}/`.startsWith(root.endsWith('/') ? root : `${root}/`)) return located
    throw new AppError('invalid', 'path_outside_root', `${located}: a link leads out of ${this.#directory}`)
  }

  /** The path in the target of a path of this host, which may be inside of the image. */
  pathInside(path: string): string {
    const prefix = `${this.#directory}/`
    return path.startsWith(prefix) ? path.slice(prefix.length - 1) : path
  }
}

/** The path, or the first directory above it that exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) ? path : nearestDirectory(dirname(path))
}
