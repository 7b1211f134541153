import packageJson from '../../package.json' with { type: 'json' }

const manifest: { readonly version: string; readonly gitHead?: string } = packageJson

/** The version in `package.json`. */
export const VERSION = manifest.version

/** The commit that a release was built from; undefined in a checkout. */
export const COMMIT = manifest.gitHead
