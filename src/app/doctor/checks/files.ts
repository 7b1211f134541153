import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../../config/config-error.ts'
import { readJwtSecret } from '../../../config/secrets.ts'
import { lostKey } from '../../signing-keys.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding, type DoctorParts } from '../check.ts'

// A directory of data has some hundred files; the bound is for one that is something else.
const MOST_FILES = 10_000
const OWNER_READS = 0o400
const OTHERS_WRITE = 0o002
const GROUP_OR_OTHERS = 0o077

interface Entry {
  readonly path: string
  readonly stats: Stats
}

/** Owner and mode of every file below the data directory. */
export const filesCheck: Check = {
  name: 'files',
  run: async ({ loaded: { config }, userId, database }) => {
    const { dataDir } = config
    const root = lstatSync(dataDir, { throwIfNoEntry: false })
    if (!root) return [skipped(dataDir, 'does not exist yet: `platform serve` creates it')]
    if (!root.isDirectory()) return [fault(dataDir, 'is not a directory', 'move it away, or change data_dir')]
    if (userId !== undefined && userId !== 0 && userId !== root.uid)
      return [fault(dataDir, ownedBy(root), `run the platform and this command as the user ${root.uid}`)]
    const entries = [...entriesBelow(dataDir)]
    const faults = entries.flatMap((entry) => faultsOf(entry, root))
    const findings = [modeOfRoot(dataDir, root), ...faults]
    if (faults.length === 0 && !config.auth.jwtSecrets) findings.push(await secretFinding(dataDir, database))
    const problems = findings.filter((each) => each !== undefined)
    return problems.length > 0
      ? problems
      : [fine(dataDir, `${entries.length} files, each with the owner of the directory`)]
  },
}

function* entriesBelow(directory: string): Generator<Entry> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).slice(0, MOST_FILES)
  for (const name of names) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    // Files of a running platform come and go.
    if (stats) yield { path, stats }
  }
}

function modeOfRoot(path: string, { mode }: Stats): CheckFinding | undefined {
  if ((mode & 0o007) === 0) return undefined
  return warning(path, `mode ${text(mode)}: every user can look into it`, `run: chmod o= ${path}`)
}

function faultsOf({ path, stats }: Entry, root: Stats): CheckFinding[] {
  const { mode, uid } = stats
  const findings: CheckFinding[] = []
  if (uid !== root.uid) {
    const detail = `${ownedBy(stats)}, the directory to the user ${root.uid}`
    findings.push(fault(path, detail, `run: chown --no-dereference ${root.uid}:${root.gid} ${path}`))
  }
  if (!stats.isSymbolicLink() && (mode & OWNER_READS) === 0)
    findings.push(fault(path, `mode ${text(mode)}: its owner cannot read it`, `run: chmod u+rw ${path}`))
  if (!stats.isSymbolicLink() && (mode & OTHERS_WRITE) !== 0)
    findings.push(fault(path, `mode ${text(mode)}: every user can write to it`, `run: chmod o= ${path}`))
  if (isKey(path) && (mode & GROUP_OR_OTHERS) !== 0)
    findings.push(fault(path, `mode ${text(mode)}: the key is for its owner alone`, `run: chmod 600 ${path}`))
  return findings
}

function isKey(path: string): boolean {
  return path.endsWith('/jwt-secret') || path.endsWith('/identity-key')
}

/** The platform does not start with a key that it refuses, nor without the key of the database. */
async function secretFinding(
  dataDir: string,
  database: DoctorParts['database'],
): Promise<CheckFinding | undefined> {
  try {
    if (readJwtSecret(dataDir)) return undefined
    const facts = await database().catch(() => undefined)
    if (facts?.hasSigningKey !== true) return undefined
    const { reason, remedy } = lostKey(dataDir)
    return fault(join(dataDir, 'jwt-secret'), reason, remedy)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [problem] = error.problems
    return fault(join(dataDir, 'jwt-secret'), `is refused: ${problem?.got}`, `expected ${problem?.expected}`)
  }
}

function ownedBy({ uid }: Stats): string {
  return `belongs to the user ${uid}`
}

function text(mode: number): string {
  return (mode & 0o777).toString(8)
}
