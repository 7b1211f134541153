const CODES: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']
/** A package, or a file of one; not a file of the program. */
const OF_PACKAGE = /^Cannot find (?:package|module) '[^./]|node_modules/

/** What to do about a package that is gone, or not whole, as after an installation that was cut; undefined for another error. */
export function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && CODES.includes(error.code))) return undefined
  if (!OF_PACKAGE.test(error.message)) return undefined
  const [reason = ''] = error.message.split('\n')
  return `${reason}. The installation is not complete: run "npm ci" in the checkout, then start the program again`
}
