import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresRemedy } from './postgres-failure.ts'

const CASES: readonly (readonly [message: string, code: string | undefined, remedy: RegExp])[] = [
  ['password authentication failed for user "shop"', '28P01', /^Correct user and password in database\.url/],
  ['no pg_hba.conf entry for host', '28000', /^Correct user and password/],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', undefined, /^Correct user and pass/],
  ['database "shop" does not exist', '3D000', /^If it was there before, .* create it/],
  ['permission denied for schema public', '42501', /owner of the database/],
  ['permission denied for table orders', '42501', /ALTER TABLE %s OWNER TO .*\\gexec/],
  ['canceling statement due to lock timeout', '55P03', /^End the session that holds the lock.*pg_terminate/],
  ['sorry, too many clients already', '53300', /^Raise max_connections/],
  ['sorry, too many clients already', '53300', /pg_stat_activity/],
  ['cannot execute CREATE TABLE in a read-only transaction', '25006', /pg_promote/],
  ['cannot execute INSERT in a read-only transaction', '25006', /RESET default_transaction_read_only/],
  ['getaddrinfo ENOTFOUND db.example.com', 'ENOTFOUND', /^Correct the host name/],
  ['certificate has expired', 'CERT_HAS_EXPIRED', /^Renew the certificate/],
  ['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', /sslrootcert of database\.url/],
  [
    "ENOENT: no such file or directory, open '/etc/ca.pem'",
    'ENOENT',
    /^Correct the path of the file in datab/,
  ],
  ["EACCES: permission denied, open '/etc/ca.pem'", 'EACCES', /^Correct the path of the file in database/],
  ['connect ENOENT /run/postgresql/.s.PGSQL.5432', 'ENOENT', /^Start its server/],
  ['The server does not support SSL connections', undefined, /^Remove sslmode/],
  ['The database has not answered within 2000 ms; try again', undefined, /name service .* firewall/],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED', /^Start its server/],
]

for (const [message, code, remedy] of CASES)
  test(`what to do about: ${message}`, () => {
    assert.match(postgresRemedy(Object.assign(new Error(message), code && { code })), remedy)
  })

test('the remedy names where the address stands', () => {
  const cause = Object.assign(new Error('database "shop" does not exist'), { code: '3D000' })
  assert.match(postgresRemedy(cause, '--to'), /its name in --to$/)
  assert.match(postgresRemedy(cause), /its name in database\.url \(DATABASE_URL\)$/)
})
