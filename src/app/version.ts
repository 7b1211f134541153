import packageJson from '../../package.json' with { type: 'json' }

const manifest: { readonly version: string; readonly gitHead?: string } = packageJson

/** The version in `package.json`. */
export const VERSION = manifest.version

/** The commit that a release was built from; undefined in a checkout. */
export const COMMIT = manifest.gitHead

/** The output of `platform version` and `platform --version`. */
export function versionText(): string {
  const commit = COMMIT === undefined ? '' : `commit ${COMMIT}, `
  return `platform ${VERSION} (${commit}Node.js ${process.version})`
}
