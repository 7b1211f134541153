import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configErrorLines, configFiles } from '../../test/support/config-files.ts'

const { load } = configFiles()
const linesOf = (toml: string, env = {}) => configErrorLines(() => load(toml, env))

describe('the table [backup]', () => {
  test('has defaults that follow the directory of the installation', () => {
    const { backup } = load('backup.install_root = "/srv/p"').config
    assert.deepEqual(backup.logs, ['/srv/p/logs'])
    assert.equal(backup.staging, '/srv/p/backups/staging')
    assert.equal(backup.drive.tokenFile, '/srv/p/certs/backend/drive-token.json')
  })

  test('takes remote_keep as an inline table and as three keys', () => {
    const inline = load('[backup]\nremote_keep = { daily = 1, weekly = 2 }').config.backup.remoteKeep
    assert.deepEqual(inline, { daily: 1, weekly: 2, monthly: 12 })
    const keys = load('[backup.remote_keep]\nmonthly = 3', { BACKUP_REMOTE_KEEP_DAILY: '9' })
    assert.deepEqual(keys.config.backup.remoteKeep, { daily: 9, weekly: 4, monthly: 3 })
  })

  test('takes remote_keep from one variable, as a table of TOML or JSON', () => {
    for (const text of ['{ daily = 1, weekly = 2 }', '{"daily":1,"weekly":2}']) {
      const { remoteKeep } = load('', { BACKUP_REMOTE_KEEP: text, BACKUP_REMOTE_KEEP_WEEKLY: '9' }).config
        .backup
      assert.deepEqual(remoteKeep, { daily: 1, weekly: 9, monthly: 12 })
    }
    for (const text of ['7', '{ daily = 1', '{ daily = "x" }', '{ daily = 1 }\nweekly = 2']) {
      const [line = ''] = linesOf('', { BACKUP_REMOTE_KEEP: text })
      assert.match(
        line,
        /^environment BACKUP_REMOTE_KEEP: backup\.remote_keep\.daily: expected an integer/,
        text,
      )
    }
  })

  test('refuses a table or a list as a member of BACKUP_REMOTE_KEEP', () => {
    for (const [text, got] of [
      ['{ daily = { a = 1 } }', 'a table'],
      ['{ daily = [1] }', '[1]'],
    ] as const)
      assert.deepEqual(linesOf('', { BACKUP_REMOTE_KEEP: text }), [
        `environment BACKUP_REMOTE_KEEP: backup.remote_keep.daily: expected an integer from 0 to 10000, got ${got}`,
      ])
  })

  test('refuses a member of BACKUP_REMOTE_KEEP that is no setting', () => {
    assert.deepEqual(linesOf('', { BACKUP_REMOTE_KEEP: '{ daily = 1, "year\\nly" = 1 }' }), [
      'environment BACKUP_REMOTE_KEEP: backup.remote_keep."year\\nly": expected a known key',
    ])
  })

  test('a wrong setting is no fault of another one that is compared with it', () => {
    const lines = linesOf('', { BACKUP_WINDOW_START: '25:00', BACKUP_WINDOW_END: '18:00' })
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /BACKUP_WINDOW_START/)
    const paths = linesOf('', { BACKUP_STAGING: '/srv/staging', BACKUP_LOGS: '[::1]:2' })
    assert.equal(paths.length, 1, paths.join('\n'))
    assert.match(paths[0] ?? '', /BACKUP_LOGS/)
  })

  for (const [wrong, expected] of [
    ['windw_start = "02:00"', 'windw_start: expected a known key, did you mean backup.window_start?'],
    ['window_start = "2:00"', 'window_start: expected a time of the day such as 02:00'],
    ['window_end = "01:00"', 'window_end: expected a time after backup.window_start'],
    ['window_start = "06:00"', 'window_start: expected a time before backup.window_end'],
    ['window_start = "05:59"', undefined],
    ['staging = "/"', 'staging: expected a directory of its own, not one with'],
    [
      'staging = "/opt/platform"',
      'staging: expected a directory of its own, not one with /opt/platform/backups',
    ],
    ['staging = "/opt/platform/backups"', 'staging: expected a directory of its own, not one with'],
    [
      'staging = "/opt/platform/logs/x"',
      'staging: expected a directory outside of the logs in /opt/platform/logs',
    ],
    ['staging = "/srv"\ndatabase = "/srv/shop.db"', 'staging: expected a directory of its own, not one with'],
    ['logs = ["/opt"]', 'logs: expected directories without backup.staging, which is in /opt'],
    ['staging = "/srv/staging"', undefined],
    ['staging = "/proc/1"', 'staging: expected a path outside of /proc, got "/proc/1"'],
    ['textfile = "/srv/backup.txt"', 'textfile: expected a path that ends in .prom, got "/srv/backup.txt"'],
    ['time_zone = "Mars/Olympus"', 'time_zone: expected the IANA name of a time zone'],
    ['time_zone = "+02:00"', 'time_zone: expected the IANA name of a time zone'],
    ['clean = ["disk"]', 'clean: expected a list without repetition of packages, journal'],
    ['clean = ["tmp", "tmp"]', 'clean: expected a list without repetition of packages, journal'],
    ['clean = "none"', undefined],
    ['reboot_command = "none"', 'reboot_command: expected a program and its arguments'],
    ['clean = true', 'clean: expected a list without repetition of packages, journal'],
    ['drive.part_size = "64"', undefined],
    ['drive.part_size = "6GiB"', 'drive.part_size: expected a number of bytes such as 64MiB or 10MB, from 1'],
    ['drive.part_size = 1.5', 'drive.part_size: expected a number of bytes'],
    [
      'reboot_command = "systemctl reboot"',
      'reboot_command: expected a program and its arguments, as a list',
    ],
    ['logs = "/var/log"', 'logs: expected a list of paths'],
    ['media_globs = "/srv/*.tmp"', 'media_globs: expected a list of absolute paths'],
    ['clean = "tmp"', 'clean: expected a list without repetition'],
    ['reboot_command = []', 'reboot_command: expected a program and its arguments'],
    ['reboot_command = [1]', 'reboot_command: expected a program and its arguments'],
    ['media_globs = ["relative/*"]', 'media_globs: expected a list of absolute paths'],
    ['media_globs = ["/*/x.part"]', 'media_globs: expected a list of absolute paths with a directory'],
    ['media_globs = ["/srv/../etc/*"]', 'media_globs: expected a list of absolute paths'],
    [
      'encryption.recipients = ["ssh-ed25519 AAAA"]',
      'encryption.recipients: expected a list of age public keys',
    ],
    ['remote_keep.yearly = 1', 'remote_keep.yearly: expected a known key'],
    ['standby.gateway_url = "http://a"', 'standby.gateway_url: expected backup.standby.token_file beside it'],
    ['server = "third"', 'server: expected one of primary, standby, got "third"'],
  ] as const) {
    test(`${expected === undefined ? 'takes' : 'refuses'} ${wrong}`, () => {
      if (expected === undefined) return void load(`[backup]\n${wrong}`)
      const [line = '', ...others] = linesOf(`[backup]\n${wrong}`)
      assert.ok(line.startsWith(`file platform.toml:2: backup.${expected}`), line)
      assert.deepEqual(others, [])
    })
  }
})

describe('templates of alerts', () => {
  test('are read by the name of the alert, and the environment beats the file', () => {
    const { config, settings } = load(
      '[backup.templates."backup.failed"]\ntitle = "${backup_id}: ${error_code}"\nbody = "b"',
      { BACKUP_TEMPLATES_BACKUP_FAILED_BODY: 'from ${server_name}' },
    )
    assert.deepEqual(config.backup.templates, {
      'backup.failed': { title: '${backup_id}: ${error_code}', body: 'from ${server_name}' },
    })
    const shown = settings.filter(({ key }) => key.startsWith('backup.templates'))
    assert.deepEqual(
      shown.map(({ source }) => source),
      ['file platform.toml:2', 'environment BACKUP_TEMPLATES_BACKUP_FAILED_BODY'],
    )
  })

  for (const text of [
    '${token}',
    'a ${password} b',
    '${ token }',
    '${TOKEN}',
    '${nothing}',
    '${backup_id',
    '${}',
    ' ',
  ]) {
    test(`with ${JSON.stringify(text)} are refused`, () => {
      const [line = '', ...others] = linesOf(
        `[backup.templates."backup.done"]\nbody = ${JSON.stringify(text)}`,
      )
      assert.match(
        line,
        /^file platform\.toml:2: backup\.templates\.backup\.done\.body: expected a text of 1 to 4096 characters with these variables only: \$\{backup_id\}, /,
      )
      assert.deepEqual(others, [])
      const [fromEnvironment = ''] = linesOf('', { BACKUP_TEMPLATES_BACKUP_DONE_BODY: text })
      assert.match(fromEnvironment, /^environment BACKUP_TEMPLATES_BACKUP_DONE_BODY: /)
    })
  }

  test('of an unknown alert, or with an unknown part, are refused', () => {
    const [unquoted = ''] = linesOf('[backup.templates.backup.failed]\ntitle = "t"')
    assert.match(
      unquoted,
      /: backup\.templates\.backup: expected the name of an alert in quotes: backup\.start, /,
    )
    const [part = ''] = linesOf('[backup.templates."backup.done"]\ntitl = "t"')
    assert.match(part, /expected a known key, did you mean title\?/)
  })
})
