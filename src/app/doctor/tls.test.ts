import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { CertificateAuthority } from '../../../test/support/certificates.ts'
import { loadConfig } from '../../config/config.ts'
import { DAY } from '../../kernel/time.ts'
import { tlsCheck } from './checks/network.ts'
import { doctorParts } from './doctor.ts'

async function findings(env: Record<string, string>, now = Date.now()): Promise<string[]> {
  const all = { MODULE: 'api', ...env }
  const parts = doctorParts(loadConfig({ env: all, cwd: '/nowhere' }), all)
  const found = await tlsCheck.run({ ...parts, clock: { ...parts.clock, now: () => now } })
  return found.map(({ result, detail }) => `${result}: ${detail}`)
}

const PLAIN = ['warning: passwords and tokens cross the network without TLS']
const FINE = ['ok: without TLS, on a loopback address; for a proxy set proxy.client_address_from']
const BEHIND = ['ok: without TLS, behind the proxy 192.0.2.1/32']

test('a listener that other hosts reach without TLS is a warning, unless a proxy is in front of it', async () => {
  assert.deepEqual(await findings({}), FINE)
  assert.deepEqual(await findings({ LISTEN_ADDR: '[::1]:1' }), FINE)
  assert.deepEqual(await findings({ LISTEN_ADDR: '0.0.0.0:1' }), PLAIN)
  assert.deepEqual(await findings({ MODULE: 'gateway', GATEWAY_LISTEN_ADDR: '192.0.2.1:1' }), PLAIN)
  assert.deepEqual(
    await findings({ LISTEN_ADDR: '0.0.0.0:1', PROXY_CLIENT_ADDRESS_FROM: '192.0.2.1' }),
    BEHIND,
  )
})

test('a certificate that ends within 14 days is a warning, and after its end an error', async () => {
  using authority = new CertificateAuthority()
  const end = Date.UTC(2026, 6, 1)
  const { path, keyPath } = await authority.issue({ from: end - 90 * DAY, to: end })
  const env = { LISTEN_ADDR: '0.0.0.0:1', API_TLS_CERT_FILE: path, API_TLS_KEY_FILE: keyPath }
  const detail = 'its certificate ends at 2026-07-01T00:00:00.000Z'
  assert.deepEqual(await findings(env, end - 15 * DAY), [`ok: ${detail}`])
  assert.deepEqual(await findings(env, end - 14 * DAY), [`warning: ${detail}`])
  assert.deepEqual(await findings(env, end), [`error: ${detail}`])
  const [missing = ''] = await findings({ ...env, API_TLS_KEY_FILE: '/nowhere/key.pem' })
  assert.match(missing, /^error: .*api\.tls\.key_file: expected a file that this user can read, got ENOENT/)
})

test('a key of another certificate is an error with a command that compares both files', async () => {
  using authority = new CertificateAuthority()
  const [one, other] = [await authority.issue(), await authority.issue()]
  const remedyOf = async (keyPath: string) => {
    const env = { MODULE: 'gateway', GATEWAY_TLS_CERT_FILE: one.path, GATEWAY_TLS_KEY_FILE: keyPath }
    const all = { GATEWAY_LISTEN_ADDR: '0.0.0.0:1', ...env }
    const [finding] = await tlsCheck.run(doctorParts(loadConfig({ env: all, cwd: '/nowhere' }), all))
    return finding?.remedy ?? ''
  }
  const remedy = await remedyOf(other.keyPath)
  assert.ok(remedy.includes(`${one.path} (gateway.tls.cert_file)`), remedy)
  assert.ok(remedy.includes(`${other.keyPath} (gateway.tls.key_file)`), remedy)
  const [, command = ''] = remedy.split('belong together: ')
  const sums = (text: string) =>
    new Set(execFileSync('sh', ['-c', text], { encoding: 'utf8' }).trim().split('\n'))
  assert.equal(sums(command).size, 2)
  assert.equal(sums(command.replace(other.keyPath, one.keyPath)).size, 1)
  assert.equal(await remedyOf(one.keyPath), '')
})
