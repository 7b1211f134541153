const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Where the programs of the host are searched, as for this program itself. */
export function searchPath(): string {
  return process.env['PATH'] || DEFAULT_PATH
}
