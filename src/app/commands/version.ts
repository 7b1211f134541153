import { COMMIT, VERSION } from '../version.ts'

/** The output of `platform version` and `platform --version`. */
export function versionText(): string {
  const commit = COMMIT === undefined ? '' : `commit ${COMMIT}, `
  return `platform ${VERSION} (${commit}Node.js ${process.version})`
}
