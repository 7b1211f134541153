import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where the package installs the documents, with the paths that they have in a checkout. */
const INSTALLED = '/usr/share/doc/backend-platform'

/** The path of a document for people: absolute where the package is installed. */
export function documentPath(path: string, directory = INSTALLED): string {
  const installed = join(directory, path)
  return existsSync(installed) ? installed : path
}
