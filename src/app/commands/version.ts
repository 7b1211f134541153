import { VERSION } from '../version.ts'

/** What `platform version` and `platform --version` print. */
export function versionText(): string {
  return `platform ${VERSION} (Node.js ${process.version})`
}
