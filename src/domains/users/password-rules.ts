import { invalidField, type ErrorValues, type FaultCode } from '../../kernel/errors.ts'

// docs/specification.md, Limits
const MINIMUM = 12
const MAXIMUM = 256
const DIFFERENT_MINIMUM = 5

export type PasswordFault = 'too_short' | 'too_long' | 'repetitive' | 'user_name' | 'common'

/** The code of each fault in a response. */
const FAULTS: Readonly<Record<PasswordFault, readonly [FaultCode, ErrorValues?]>> = {
  too_short: ['too_short', { minimum: MINIMUM }],
  too_long: ['too_long', { maximum: MAXIMUM }],
  repetitive: ['repetitive_password', { minimum: DIFFERENT_MINIMUM }],
  user_name: ['user_name_password'],
  common: ['common_password'],
}

/** Rejects with `validation_failed`, which names the fault. */
export async function requireGoodPassword(password: string, userName: string): Promise<void> {
  const fault = await passwordFault(password, userName)
  if (fault) throw invalidField('password', ...FAULTS[fault])
}

/** The first fault of a password for a user of this name; undefined when there is none. */
export async function passwordFault(password: string, userName: string): Promise<PasswordFault | undefined> {
  const characters = Array.from(password)
  if (characters.length < MINIMUM) return 'too_short'
  if (characters.length > MAXIMUM) return 'too_long'
  if (new Set(characters).size < DIFFERENT_MINIMUM) return 'repetitive'
  const cores = coresOf(password)
  if (cores.includes(userName.toLowerCase())) return 'user_name'
  const common = await commonPasswords()
  return cores.some((core) => common.has(core)) ? 'common' : undefined
}

/** The letters that digits and signs often stand for. */
const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/**
 * The password without the usual additions to a short one: capitals, repetition, digits and signs around it, digits
 * instead of letters. Attackers try these additions first.
 */
function coresOf(password: string): string[] {
  const whole = password.toLowerCase()
  const unit = repeatedUnit(whole)
  const withoutTail = unit.replace(/[^a-z]+$/, '')
  const withLetters = withoutTail.replace(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign)
  const cores = [unit, withoutTail, withoutHead(withoutTail), withoutHead(withLetters)]
  return [whole, ...cores.map(repeatedUnit)]
}

function withoutHead(text: string): string {
  return text.replace(/^[^a-z]+/, '')
}

/** The shortest prefix whose repetition is the text: `qwertyqwertyqw` → `qwerty`. */
function repeatedUnit(text: string): string {
  for (let length = 1; length < text.length; length++) {
    if (text.startsWith(text.slice(length))) return text.slice(0, length)
  }
  return text
}

/**
 * Common passwords that the public list does not contain, without the digits and signs around them: examples from
 * documentation, defaults of server software, sequences of the alphabet and of keyboards.
 */
const OTHERS = `
  abc abcdef changemenow correcthorsebatterystaple iloveyouforever iloveyousomuch manchesterunited mynoob oauth
  passphrase qwer qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertz qwertzuiop secretpassword superuser toor
  twitter vagrant welcomehome wordpress
  !qaz2wsx3edc 0123456789 0987654321 1234567891011 123456789101112 1a2b3c4d5e6f 54321 654321 87654321 987654321
  9876543210 a1b2c3d4e5f6 abc123def456 abcd1234abcd abcdefghijkl abcdefghijklm abcdefghijklmnop
  abcdefghijklmnopqrstuvwxyz asdf1234qwer iloveyou2much pass1234word q2w3e4r5t6y7 qwe123asd456 qwer1234asdf
  qwer1234qwer
`

let loading: Promise<ReadonlySet<string>> | undefined

/** Common passwords in lower case. Loaded at the first call, because they take 3 MiB and some time. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= load()
  return loading
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set([...dictionary['passwords-common'], ...OTHERS.trim().split(/\s+/)])
}
