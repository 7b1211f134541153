import { VERSION } from '../version.ts'

/** The output of `platform version` and `platform --version`. */
export function versionText(): string {
  return `platform ${VERSION} (Node.js ${process.version})`
}
