import packageJson from '../../package.json' with { type: 'json' }

/** The release, as `package.json` says it. */
export const VERSION: string = packageJson.version
