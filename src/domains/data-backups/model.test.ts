import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import { isBackupDue, pruneBackups } from './model.ts'

const backupsFrom = (verified: readonly boolean[]) =>
  verified.map((isVerified, index) => ({ id: index, verifiedAt: isVerified ? 1 : null }))

test('pruning keeps the newest backups and the newest verified one, and nothing else, whatever there is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { maxLength: 20 }),
      fc.integer({ min: 1, max: 25 }),
      (verified, keep) => {
        const backups = backupsFrom(verified)
        const { removed, kept } = pruneBackups(backups, keep)
        const newest = backups.slice(0, keep)
        const older = backups.slice(keep)
        const isAnyVerified = newest.some(({ verifiedAt }) => verifiedAt !== null)
        const saved = isAnyVerified ? [] : older.filter(({ verifiedAt }) => verifiedAt !== null).slice(0, 1)
        assert.deepEqual(kept, [...newest, ...saved])
        assert.deepEqual(
          removed,
          older.filter((backup) => !saved.includes(backup)),
        )
      },
    ),
  )
})

test('pruning any number of times removes a verified backup only while a newer verified one stays', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
      (verified, keeps) => {
        const all = backupsFrom(verified)
        const newestVerified = all.find(({ verifiedAt }) => verifiedAt !== null)
        const left = keeps.reduce((kept, keep) => [...pruneBackups(kept, keep).kept], all)
        if (newestVerified) assert.ok(left.includes(newestVerified))
        assert.equal(left[0], all[0])
      },
    ),
  )
})

const DUE: readonly (readonly [
  what: string,
  newest: Parameters<typeof isBackupDue>[0],
  everyMs: number,
  expected: boolean,
])[] = [
  ['the first one', undefined, 24 * HOUR, true],
  ['one before the end of the period', { status: 'completed', createdAt: 1 }, 24 * HOUR, false],
  ['one at the end of the period', { status: 'completed', createdAt: 0 }, 24 * HOUR, true],
  [
    'one right after that of a host whose clock is a little ahead',
    { status: 'completed', createdAt: 24 * HOUR + MINUTE / 2 },
    24 * HOUR,
    false,
  ],
  ['one while another runs', { status: 'running', createdAt: 0 }, MINUTE, false],
  ['one right after a failed one', { status: 'failed', createdAt: 24 * HOUR - MINUTE }, 24 * HOUR, false],
  ['one half an hour after a failed one', { status: 'failed', createdAt: 23.5 * HOUR }, 24 * HOUR, true],
  ['one a period after a failed one', { status: 'failed', createdAt: 24 * HOUR - MINUTE }, MINUTE, true],
]

for (const [what, newest, everyMs, expected] of DUE) {
  test(`the worker ${expected ? 'makes' : 'does not make'} ${what}`, () => {
    assert.equal(isBackupDue(newest, everyMs, 24 * HOUR), expected)
  })
}
