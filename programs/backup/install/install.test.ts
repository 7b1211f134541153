import assert from 'node:assert/strict'
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { AppError } from '../../../src/kernel/errors.ts'
import {
  byResult,
  installWorld,
  INSTALLED_PROGRAM,
  type InstallWorld,
} from '../../../test/support/install-world.ts'
import {
  installReportJson,
  installReportText,
  installRoutine,
  formatUnits,
  TargetRoot,
  uninstallRoutine,
} from './index.ts'
import { UNIT_NAMES } from './units.ts'

const UNITS = '/etc/systemd/system'
const TIMER = 'platform-backup.timer'
const TIMERS = ['platform-backup.timer', 'platform-backup-retry.timer', 'platform-backup-drill.timer']
const SELFCHECK = 'platform-backup-selfcheck.service'

/** All files and links below a directory with their texts, to compare two moments. */
function contentsOf({ directory, read }: InstallWorld): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => [name, lstatSync(`${directory}/${name}`).isFile() ? read(name) : '']),
  )
}

test('install --root writes units, links and directories, and calls no systemctl', async () => {
  using world = installWorld()
  const report = await installRoutine(world.root, world.deps)
  assert.deepEqual(byResult(report, world.directory), {
    created: ['/opt/platform/backups', '/opt/platform/backups/staging', '/opt/platform/logs/backend'],
    written: UNIT_NAMES.map((name) => `${UNITS}/${name}`),
    enabled: [
      `${UNITS}/timers.target.wants/platform-backup.timer`,
      `${UNITS}/timers.target.wants/platform-backup-retry.timer`,
      `${UNITS}/timers.target.wants/platform-backup-drill.timer`,
      `${UNITS}/multi-user.target.wants/${SELFCHECK}`,
    ],
  })
  assert.equal(readlinkSync(world.unit(`timers.target.wants/${TIMER}`)), `${UNITS}/${TIMER}`)
  assert.deepEqual(world.systemctl, [])
  assert.equal(world.registrations(), 1)
})

test('state and staging are for root only, the log for its group too, units for everybody', async () => {
  using world = installWorld()
  const umask = process.umask(0o077)
  await installRoutine(world.root, world.deps)
  process.umask(umask)
  const mode = (name: string) => (statSync(world.path(name)).mode & 0o777).toString(8)
  assert.deepEqual(
    [
      'opt/platform/backups',
      'opt/platform/backups/staging',
      'opt/platform/logs',
      'opt/platform/logs/backend',
    ].map(mode),
    ['700', '700', '755', '750'],
  )
  assert.equal(mode(`${UNITS}/${TIMER}`), '644')
})

test('install on the host reloads systemd, starts the timers, and enables the self-check for the next boot', async () => {
  using world = installWorld({ host: true })
  await installRoutine(world.root, world.deps)
  assert.deepEqual(world.systemctl, [
    'daemon-reload',
    `enable --now ${TIMERS.join(' ')}`,
    `enable ${SELFCHECK}`,
  ])
})

test('a second install changes nothing', async () => {
  using world = installWorld()
  await installRoutine(world.root, world.deps)
  const before = contentsOf(world)
  const again = await installRoutine(world.root, world.deps)
  assert.deepEqual(Object.keys(byResult(again, world.directory)), ['unchanged'])
  assert.deepEqual(contentsOf(world), before)
})

test('install replaces its own units when the settings have changed', async () => {
  using world = installWorld()
  await installRoutine(world.root, world.deps)
  const settings = { ...world.deps.settings, timeZone: 'Asia/Tokyo' }
  const report = await installRoutine(world.root, { ...world.deps, settings })
  assert.deepEqual(
    byResult(report, world.directory)['replaced'],
    TIMERS.map((name) => `${UNITS}/${name}`).sort(byUnit),
  )
  assert.match(world.read(`${UNITS}/${TIMER}`), /02:00:00 Asia\/Tokyo/)
})

const byUnit = (a: string, b: string) =>
  UNIT_NAMES.findIndex((name) => a.endsWith(`/${name}`)) -
  UNIT_NAMES.findIndex((name) => b.endsWith(`/${name}`))

for (const [what, change] of [
  ['a unit that a person changed', (text: string) => text.replace('AccuracySec=1s', 'AccuracySec=5m')],
  ['a unit that a person wrote', () => '[Timer]\nOnCalendar=daily\n'],
  ['a unit whose hash a person removed', (text: string) => text.split('\n').slice(1).join('\n')],
] as const) {
  test(`${what} is left alone, and named, by install and uninstall`, async () => {
    using world = installWorld()
    await installRoutine(world.root, world.deps)
    const changed = change(world.read(`${UNITS}/${TIMER}`))
    world.write(`${UNITS}/${TIMER}`, changed)
    const report = await installRoutine(world.root, world.deps)
    assert.deepEqual(byResult(report, world.directory)['left'], [`${UNITS}/${TIMER}`])
    assert.match(
      installReportText(report),
      /left .*platform-backup\.timer .*(by hand|not written by this command)/,
    )
    const removal = await uninstallRoutine(world.root, world.deps)
    assert.deepEqual(byResult(removal, world.directory)['left'], [`${UNITS}/${TIMER}`])
    assert.equal(world.read(`${UNITS}/${TIMER}`), changed)
  })
}

test('a masked unit stays masked', async () => {
  using world = installWorld({ host: true })
  world.write(`${UNITS}/other`, '')
  symlinkSync('/dev/null', world.unit(TIMER))
  const report = await installRoutine(world.root, world.deps)
  assert.deepEqual(byResult(report, world.directory)['left'], [`${UNITS}/${TIMER}`])
  assert.equal(readlinkSync(world.unit(TIMER)), '/dev/null')
  assert.equal(world.systemctl[1], `enable --now ${TIMERS.slice(1).join(' ')}`)
})

test('uninstall removes what install wrote, and names what it leaves', async () => {
  using world = installWorld()
  const before = contentsOf(world)
  await installRoutine(world.root, world.deps)
  world.write(`${UNITS}/${TIMER}.d/override.conf`, '[Timer]\n')
  const report = await uninstallRoutine(world.root, world.deps)
  const { removed, left } = byResult(report, world.directory)
  assert.equal(removed?.length, UNIT_NAMES.length + TIMERS.length + 1)
  assert.deepEqual(left, [`${UNITS}/${TIMER}.d/override.conf`])
  assert.match(installReportText(report), /kept: \/opt\/platform\/backups/)
  const files = Object.keys(contentsOf(world)).filter((name) => lstatSync(world.path(name)).isFile())
  const dropIn = `${UNITS}/${TIMER}.d/override.conf`.slice(1)
  assert.deepEqual(files, [...Object.keys(before).filter((name) => before[name] !== ''), dropIn].sort())
})

test('uninstall on the host disables before it removes, and does nothing the second time', async () => {
  using world = installWorld({ host: true })
  await installRoutine(world.root, world.deps)
  await uninstallRoutine(world.root, world.deps)
  assert.deepEqual(world.systemctl.slice(3), [
    `disable --now ${TIMERS.join(' ')}`,
    `disable ${SELFCHECK}`,
    'daemon-reload',
  ])
  const again = await uninstallRoutine(world.root, world.deps)
  assert.deepEqual([again.entries, world.systemctl.length], [[], 6])
})

for (const [problem, spoil, expected] of [
  [
    'a public token file',
    (world: InstallWorld) => world.write('opt/platform/certs/backend/drive-token.json', '{}', 0o644),
    /drive-token\.json: group or others/,
  ],
  [
    'a malformed token file',
    (world: InstallWorld) =>
      world.write('opt/platform/certs/backend/drive-token.json', '{"access_token":"canary"', 0o600),
    /drive-token\.json: it must be a JSON object/,
  ],
  [
    'missing secrets',
    (world: InstallWorld) => rmSync(world.path('etc/platform/backup.env')),
    /backup\.env: /,
  ],
  [
    'public secrets',
    (world: InstallWorld) => world.write('etc/platform/backup.env', 'DRIVE_CLIENT_ID=canary', 0o640),
    /backup\.env: group or others/,
  ],
] as const) {
  test(`with ${problem} nothing is written, and the reason has no secret`, async () => {
    using world = installWorld()
    spoil(world)
    const before = contentsOf(world)
    await assert.rejects(
      installRoutine(world.root, world.deps),
      (error) =>
        error instanceof AppError &&
        error.kind === 'invalid' &&
        expected.test(error.message) &&
        !/canary/.test(error.message),
    )
    assert.deepEqual(contentsOf(world), before)
    assert.equal(world.registrations(), 0)
  })
}

test('a zone that the target does not have is refused', async () => {
  using world = installWorld({ settings: { timeZone: 'Asia/Calcutta' } })
  world.write('usr/share/zoneinfo/Asia/Kolkata', '')
  await assert.rejects(
    installRoutine(world.root, world.deps),
    /time_zone: systemd does not know Asia\/Calcutta/,
  )
  world.write('usr/share/zoneinfo/Asia/Calcutta', '')
  await installRoutine(world.root, world.deps)
})

test('a failed systemctl is an error that says how to go on', async () => {
  using world = installWorld({ host: true })
  const reason = 'System has not been booted with systemd'
  const shell = { run: async () => ({ status: 'failed', reason }) as const }
  await assert.rejects(
    installRoutine(world.root, { ...world.deps, shell }),
    /^AppError: systemctl daemon-reload: System has not been booted with systemd; .*--root/,
  )
})

test('a link in the image leads nowhere outside of it', async () => {
  using world = installWorld()
  using outside = installWorld()
  symlinkSync(outside.directory, world.path('etc/systemd'))
  await assert.rejects(installRoutine(world.root, world.deps), /a link leads out of/)
  assert.deepEqual(readdirSync(outside.directory).sort(), ['etc', 'opt'])
})

test('--root may name a new directory, but not a file', async () => {
  using world = installWorld()
  const { tokenFile, secretsFile } = world.deps.settings
  const settings = {
    ...world.deps.settings,
    tokenFile: world.path(tokenFile),
    secretsFile: world.path(secretsFile),
  }
  await installRoutine(new TargetRoot(world.path('new/image')), { ...world.deps, settings })
  assert.match(world.read(`new/image${UNITS}/${TIMER}`), /^OnCalendar=/m)
  assert.throws(() => new TargetRoot(world.path(secretsFile)), /--root: \S+ is not a directory/)
})

test('--root / is this host without systemctl', () => {
  const root = new TargetRoot('/')
  assert.equal(root.locate('/etc/systemd/system/a.timer'), '/etc/systemd/system/a.timer')
  assert.equal(root.pathInside('/usr/bin/node'), '/usr/bin/node')
})

test('a program and a configuration inside of the image are named as the image knows them', async () => {
  using world = installWorld()
  const program = {
    command: [world.path('opt/platform/platform')],
    configFile: world.path('etc/platform.toml'),
    workingDirectory: '/root',
  }
  await installRoutine(world.root, { ...world.deps, program })
  assert.match(
    world.read(`${UNITS}/platform-backup.service`),
    /^ExecStart=\/opt\/platform\/platform backup run --scheduled --config \/etc\/platform\.toml$/m,
  )
})

test('a directory that every user may read is named, and keeps its mode', async () => {
  using world = installWorld()
  world.write('opt/platform/backups/staging/file', '')
  const report = await installRoutine(world.root, world.deps)
  assert.match(installReportText(report), /left .*staging .*mode 755: every user may read it; chmod 700 it/)
  assert.equal(statSync(dirname(world.path('opt/platform/backups/staging/file'))).mode & 0o777, 0o755)
})

test(
  'a directory of another user is named',
  { skip: process.getuid?.() !== 0 && 'only root gives files away' },
  async () => {
    using world = installWorld()
    mkdirSync(world.path('opt/platform/backups'), { mode: 0o700 })
    chownSync(world.path('opt/platform/backups'), 1234, 1234)
    const report = await installRoutine(world.root, world.deps)
    assert.match(installReportText(report), /left .*backups .*it belongs to the user 1234.*chown root it/)
  },
)

test('the report says when the timers elapse next, and which settings the units lack', async () => {
  using world = installWorld()
  const settings = { ...world.deps.settings, hasDrive: false }
  const shellVariables = ['BACKUP_SERVER']
  const report = await installRoutine(world.root, { ...world.deps, settings, shellVariables })
  const text = installReportText(report)
  assert.match(text, /^next run: 2026-02-01 02:00 Europe\/Berlin$/m)
  assert.match(text, /^next restore drill: 2026-02-01 07:00 Europe\/Berlin$/m)
  assert.match(text, /^only in this shell: BACKUP_SERVER; /m)
  assert.match(text, /^backup\.drive\.api_url is not set/m)
  const { next_run: nextRun } = installReportJson(report) as { next_run: string }
  assert.equal(nextRun, '2026-02-01T01:00:00.000Z')
})

test('--print prints every unit under its path', () => {
  using world = installWorld()
  const printed = formatUnits({ settings: world.deps.settings, program: INSTALLED_PROGRAM })
  for (const name of UNIT_NAMES) assert.ok(printed.includes(`# ${UNITS}/${name}\n`), name)
})
