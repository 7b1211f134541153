import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { passwordFault, requireGoodPassword, type PasswordFault } from './password-rules.ts'

const CASES: readonly (readonly [password: string, fault: PasswordFault | undefined])[] = [
  ['', 'too_short'],
  ['k7#mQ2x!Lp9', 'too_short'],
  ['k7#mQ2x!Lp9v', undefined],
  // Twelve characters are counted, not bytes or UTF-16 units.
  ['🔑🚪🏠🌳🐈🐕🚲⛵', 'too_short'],
  ['🔑🚪🏠🌳🐈🐕🚲⛵🎈🎩🧦🧤', undefined],
  [`${'k7#mQ2x!Lp9v'.repeat(21)}abcd`, undefined],
  [`${'k7#mQ2x!Lp9v'.repeat(21)}abcde`, 'too_long'],
  ['aaaaaaaaaaaa', 'repetitive'],
  ['abcdabcdabcd', 'repetitive'],
  ['121212121212', 'repetitive'],
  ['123456789012', 'common'],
  ['password1234', 'common'],
  ['Password2026!', 'common'],
  ['P@ssw0rd!P@ssw0rd!', 'common'],
  ['passwordpassword', 'common'],
  ['qwertyuiop12', 'common'],
  ['qwertyuiopasdfghjkl', 'common'],
  ['1q2w3e4r5t6y', 'common'],
  ['1qaz2wsx3edc', 'common'],
  ['iloveyou12345', 'common'],
  ['administrator', 'common'],
  ['AdminAdmin123', 'common'],
  ['Administrator2026!', 'common'],
  ['jamesbond007', 'common'],
  ['qazxswedcvfr', 'common'],
  ['k7#mQ2x!Lp9v-otters', undefined],
  ['Grace.Hopper-1906', 'user_name'],
  ['grace.hoppergrace.hopper', 'user_name'],
  ['grace.hopper likes moths', undefined],
  ['correct horse battery staple', undefined],
  ['password of my first bicycle', undefined],
]

describe('the password of grace.hopper', () => {
  for (const [password, fault] of CASES) {
    const shown = JSON.stringify(
      password.length > 40 ? `${password.slice(0, 40)}… (${password.length})` : password,
    )
    test(`${shown} is ${fault ?? 'accepted'}`, async () => {
      assert.equal(await passwordFault(password, 'Grace.Hopper'), fault)
    })
  }
})

test('the error names the reason and not the password', async () => {
  await assert.rejects(
    requireGoodPassword('password1234', 'ada'),
    (error: Error) => error.message.startsWith('password: is a common') && !error.message.includes('1234'),
  )
})

test('every password of at least 12 characters in the public list of common passwords is refused', async () => {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const long = dictionary['passwords-common'].filter((password) => password.length >= 12)
  assert.ok(long.length > 300)
  for (const password of long) assert.ok(await passwordFault(password, 'ada'), password)
})
