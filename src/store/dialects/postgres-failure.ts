import { errorMessage, errorCode } from '../../kernel/errors.ts'

// SQLSTATE: insufficient_privilege
const FORBIDDEN = '42501'

/** What to do, by its code. */
export const POSTGRES_REMEDIES = {
  start: 'Start its server, or correct {address}',
  login:
    'Correct user and password in {address}; if they are right, look at the user (\\du in psql) and at pg_hba.conf of the server',
  database:
    "If it was there before, look which server has it (on Debian pg_lsclusters lists those of a host: after an upgrade the former one has the data, until pg_upgradecluster); if it is a new one, create it (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0); or correct its name in {address}",
  standby:
    'If pg_is_in_recovery() is true there, it is a standby: set {address} to the primary, or promote this one (SELECT pg_promote()) when the primary is stopped for good; else run ALTER DATABASE … RESET default_transaction_read_only, or ALTER ROLE …, as \\drds in psql shows where it is set',
  // Sequences and indexes follow their table.
  owner:
    "Make the user of {address} the owner of the database (ALTER DATABASE … OWNER TO …) and of its tables: SELECT format('ALTER TABLE %s OWNER TO …', oid::regclass) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \\gexec in psql, as a superuser, does it for all",
  disk: 'Make room on the disk of the server',
  connections:
    'Raise max_connections of the server, or end other programs that use it: each process takes 10. A superuser still connects: SELECT pid, usename, application_name, client_addr FROM pg_stat_activity shows them, SELECT pg_terminate_backend(pid) ends one',
  lock: "End the session that holds the lock: SELECT pid, usename, application_name, state, xact_start, query FROM pg_stat_activity WHERE pid IN (SELECT pid FROM pg_locks WHERE mode LIKE '%Exclusive%' AND relation IS NOT NULL) ORDER BY xact_start shows who holds one, SELECT pg_terminate_backend(pid) ends it",
  starting: 'Wait until the server has started; its log says what it does',
  host: 'Correct the host name in {address}, or the name service of this host',
  network: 'Look at the network and the firewall between this host and the server',
  silent:
    'Start its server; if it runs, look at the name service of this host and at the firewall between them; or correct {address}',
  certificate:
    'Renew the certificate of the server if it has ended or has another host name; if your own authority has signed it, or it is self-signed, name the file of that certificate as sslrootcert of {address}: ?sslmode=verify-full&sslrootcert=/path/ca.pem',
  file: 'Correct the path of the file in {address} (sslrootcert, sslcert, sslkey), and let the user of the service read it',
  tls: 'Remove sslmode from {address}, or give the server a certificate (ssl = on)',
  primary: 'Promote a standby, or add its address to {address}',
} as const

type PostgresRemedyCode = keyof typeof POSTGRES_REMEDIES

/** By the code of the error; https://www.postgresql.org/docs/15/errcodes-appendix.html */
const BY_CODE: Readonly<Record<string, PostgresRemedyCode>> = {
  '28P01': 'login',
  '28000': 'login',
  '3D000': 'database',
  '25006': 'standby',
  [FORBIDDEN]: 'owner',
  '53100': 'disk',
  '53300': 'connections',
  '55P03': 'lock',
  '57P03': 'starting',
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  EHOSTUNREACH: 'network',
  ETIMEDOUT: 'network',
}

/** By the text, for errors of the driver, of TLS and of a list of servers. */
const BY_TEXT: readonly (readonly [pattern: RegExp, remedy: PostgresRemedyCode])[] = [
  [/ENOTFOUND|EAI_AGAIN/, 'host'],
  [/EHOSTUNREACH|ETIMEDOUT/, 'network'],
  [/, open /, 'file'],
  [/certificate/i, 'certificate'],
  [/has not answered within/, 'silent'],
  [/does not support SSL/i, 'tls'],
  [/password/i, 'login'],
  [/takes no changes/, 'primary'],
]

/** The server refuses the user what the statement needs. */
export function isForbidden(cause: unknown): boolean {
  return errorCode(cause) === FORBIDDEN
}

/** What to do about a server that cannot be used for this reason; without a full stop. `address` names where its address stands. */
export function postgresRemedy(cause: unknown, address = 'database.url (DATABASE_URL)'): string {
  return POSTGRES_REMEDIES[postgresRemedyCode(cause)].replace('{address}', () => address)
}

/** Which remedy that is. */
export function postgresRemedyCode(cause: unknown): PostgresRemedyCode {
  const known = BY_CODE[errorCode(cause) ?? '']
  if (known !== undefined) return known
  return BY_TEXT.find(([pattern]) => pattern.test(errorMessage(cause)))?.[1] ?? 'start'
}
