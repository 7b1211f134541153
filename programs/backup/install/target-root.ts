import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../../src/kernel/errors.ts'

/** The file system that the routine is installed in: that of this host, or an image below a directory. */
export class TargetRoot {
  readonly #directory: string | undefined
  /** Whether systemd of this host starts what is installed. */
  readonly isHost: boolean

  /** `directory`: `--root`; it may be a new one. A test passes `isHost` for a directory that stands for this host. */
  constructor(directory: string | undefined, isHost = directory === undefined) {
    this.isHost = isHost
    const path = directory === undefined ? undefined : resolve(directory)
    if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new AppError('invalid', 'root_no_directory', `--root: ${path} is not a directory`)
    this.#directory = path
  }

  /** Where a path of the target is on this host. Throws an error if a link leads out of the image. */
  locate(path: string): string {
    if (this.#directory === undefined) return path
    const located = join(this.#directory, path)
    if (!existsSync(this.#directory)) return located
    const root = realpathSync(this.#directory)
    const real = realpathSync(nearestDirectory(dirname(located)))
    if (`${real}/`.startsWith(root.endsWith('/') ? root : `${root}/`)) return located
    throw new AppError('invalid', 'path_outside_root', `${located}: a link leads out of ${this.#directory}`)
  }

  /** The reverse of `locate`: the path in the image. A path outside of the image stays as it is. */
  pathInside(path: string): string {
    if (this.#directory === undefined) return path
    const prefix = `${this.#directory}/`
    return path.startsWith(prefix) ? path.slice(prefix.length - 1) : path
  }
}

/** The path, or the first directory above it that exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) ? path : nearestDirectory(dirname(path))
}
