import { invalidField } from '../../kernel/errors.ts'
import { commonPasswords } from './common-passwords.ts'

/** The messages for each fault of a password, in the order of the checks. */
const FAULTS = {
  too_short: 'must have at least 12 characters',
  too_long: 'must have at most 256 characters',
  repetitive: 'must have at least 5 different characters',
  user_name: 'must not be the name of the user, even with digits and signs added',
  common: 'is a common password, or one with digits and signs added',
} as const
export type PasswordFault = keyof typeof FAULTS

// docs/specification.md, Limits
const MINIMUM = 12
const MAXIMUM = 256
const DIFFERENT_MINIMUM = 5

/** Rejects with `validation_failed`, which names the fault. */
export async function requireGoodPassword(password: string, userName: string): Promise<void> {
  const fault = await passwordFault(password, userName)
  if (fault) throw invalidField('password', FAULTS[fault])
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
  return [whole, ...[unit, withoutTail, withoutHead(withoutTail), withoutHead(withLetters)].map(repeatedUnit)]
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
