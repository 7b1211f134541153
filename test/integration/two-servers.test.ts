import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/config.ts'
import { doNetworksOverlap } from '../../src/domains/users/mirror/model.ts'

const DIRECTORY = join(import.meta.dirname, '../../deploy/two-servers')

/** As `platform config --config FILE` reads it on a server. */
function configOf(name: string) {
  return loadConfig({ env: {}, cwd: '/', configPath: join(DIRECTORY, name) }).config
}

test('the example configurations of both servers fit each other', () => {
  const [primary, standby] = [configOf('primary.toml'), configOf('standby.toml')]
  const { host, port } = primary.api.listen
  assert.equal(standby.gateway.mirrorFrom, `http://${host}:${port}`)
  assert.equal(standby.gateway.apiUrl, standby.gateway.mirrorFrom)
  assert.deepEqual(standby.gateway.listen, primary.gateway.listen)
  assert.notEqual(standby.gateway.name, primary.gateway.name)
  assert.equal(doNetworksOverlap(primary.vpn.ipPool.text, standby.vpn.ipPool.text), false)
  assert.deepEqual(standby.modules, ['gateway', 'worker'])
  // The gateway of the standby signs its requests, so its address needs no trust.
  assert.ok(primary.auth.trustedProxies.every(({ text }) => text !== '10.0.0.2/32'))
})

test('the example of the environment names variables of the platform alone', () => {
  const lines = readFileSync(join(DIRECTORY, 'platform.env.example'), 'utf8').split('\n')
  assert.deepEqual(
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    ['JWT_SECRET='],
  )
})
