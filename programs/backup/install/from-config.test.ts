import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/config.ts'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { INSTALL_SETTINGS } from '../../../test/support/install-world.ts'
import { installSettingsOf, shellVariablesOf } from './from-config.ts'

function load(env: Readonly<Record<string, string>>) {
  using directory = temporaryDirectory()
  return loadConfig({
    env,
    cwd: directory.path,
    configPath: undefined,
    moduleOverride: undefined,
    terminal: false,
  })
}

const SERVER = {
  DATA_DIR: '/var/lib/platform',
  BACKUP_TIME_ZONE: 'Europe/Berlin',
  BACKUP_DRIVE_API_URL: 'http://127.0.0.1:8089',
}

test('the units follow the settings', () => {
  assert.deepEqual(installSettingsOf(load(SERVER).config), INSTALL_SETTINGS)
  const other = load({
    ...SERVER,
    BACKUP_DATABASE: '/srv/shop.db',
    BACKUP_RETRY_EVERY: '15m',
    BACKUP_CLEAN: 'none',
  })
  const { databaseFile, window, clean } = installSettingsOf(other.config)
  assert.deepEqual([databaseFile, window.retryEveryMs, clean], ['/srv/shop.db', 900_000, []])
  const postgres = load({ ...SERVER, DATABASE_URL: 'postgres://localhost/shop' })
  assert.equal(installSettingsOf(postgres.config).databaseFile, undefined)
})

test('the variables of a shell are the sources of settings', () => {
  assert.deepEqual(shellVariablesOf(load({ ...SERVER, PATH: '/usr/bin' })), [
    'DATA_DIR',
    'BACKUP_TIME_ZONE',
    'BACKUP_DRIVE_API_URL',
  ])
})
