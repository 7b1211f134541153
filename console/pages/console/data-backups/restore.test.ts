import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settings } from '../settings/model.ts'
import { restorationOf } from './restore.ts'

const BACKUP = { id: 'a1' }

function settings(
  file: string | null,
  values: Readonly<Record<string, readonly [value: string, source: string]>>,
): Settings {
  const items = Object.entries(values).map(([key, [value, source]]) => {
    return { key, value, source, description: null }
  })
  return { file, items }
}

test('a restoration names the backup, the configuration, and what the configuration does not say', () => {
  const inFile = { data_dir: ['/srv/data', 'file /etc/platform/platform.toml:1'] } as const
  const byDefault = { data_dir: ['/srv/my data', 'default'] } as const
  const file = '/etc/platform/platform.toml'
  assert.deepEqual(restorationOf(BACKUP, settings(file, inFile)), {
    command: `platform data restore /srv/data/backups/a1.db --config ${file}`,
  })
  assert.deepEqual(restorationOf(BACKUP, settings(null, byDefault)), {
    command: "DATA_DIR='/srv/my data' platform data restore '/srv/my data/backups/a1.db'",
  })
})

test('a database with a password is named by its variable only', () => {
  const values = {
    data_dir: ['/srv/data', 'environment DATA_DIR'],
    'database.url': ['postgres://**redacted**@db/shop', 'environment DATABASE_URL'],
  } as const
  assert.deepEqual(restorationOf(BACKUP, settings(null, values)), {
    command: 'DATA_DIR=/srv/data platform data restore /srv/data/backups/a1.dump',
    secretVariable: 'DATABASE_URL',
  })
})
