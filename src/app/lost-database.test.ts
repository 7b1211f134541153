import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { loadConfig } from '../config/config.ts'
import { lostDatabaseRemains, findUnmountedPoint } from './lost-database.ts'

const FSTAB = `# <file system> <mount point> <type> <options>
UUID=a / ext4 defaults 0 1
UUID=b  /srv/my\\040data/  ext4  nofail,noatime 0 2
UUID=c none swap sw 0 0
`
const ROOT = '21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n'
const DISK = '35 21 8:17 / /srv/my\\040data rw - ext4 /dev/sdb1 rw\n'

test('a disk of /etc/fstab that is not mounted is found for what is on it, and for nothing else', () => {
  using directory = temporaryDirectory()
  const [wanted, mounted] = [join(directory.path, 'fstab'), join(directory.path, 'mountinfo')]
  const find = (path: string) => findUnmountedPoint(path, { wanted, mounted })
  assert.equal(find('/srv/my data'), undefined, 'without both files nothing is known')
  writeFileSync(wanted, FSTAB)
  writeFileSync(mounted, ROOT)
  assert.equal(find('/srv/my data'), '/srv/my data')
  assert.equal(find('/srv/my data/platform'), '/srv/my data')
  assert.equal(find('/srv/my data of others'), undefined)
  assert.equal(find('/var/lib/platform'), undefined)
  writeFileSync(mounted, ROOT + DISK)
  assert.equal(find('/srv/my data/platform'), undefined)
})

test('an empty directory in the place of a disk that is not mounted is no new installation', () => {
  using directory = temporaryDirectory()
  const dataDir = join(directory.path, 'data')
  const { config } = loadConfig({ env: { DATA_DIR: dataDir }, cwd: '/', systemConfigPath: '/nowhere' })
  const remains = () => lostDatabaseRemains(config, () => directory.path)
  assert.deepEqual(remains(), [`an entry for ${directory.path} in /etc/fstab`])
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'platform.db'), 'a database')
  assert.deepEqual(remains(), [])
})
