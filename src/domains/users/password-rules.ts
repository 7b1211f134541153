import { invalidField } from '../../kernel/errors.ts'
import { COMMON_PASSWORDS } from './common-passwords.ts'

/** What is wrong with a password, in the order in which it is looked for. */
const FAULTS = {
  too_short: 'must have at least 12 characters',
  too_long: 'must have at most 256 characters',
  repetitive: 'must have at least 5 different characters',
  user_name: 'must be more than the name of its user',
  common: 'is one of the passwords that are guessed first',
} as const
export type PasswordFault = keyof typeof FAULTS

// contract, Resources: User
const MINIMUM = 12
const MAXIMUM = 256
const DIFFERENT_MINIMUM = 5

/** Why a user of that name must not have that password, or undefined when they may. */
export function passwordFault(password: string, userName: string): PasswordFault | undefined {
  const characters = Array.from(password)
  if (characters.length < MINIMUM) return 'too_short'
  if (characters.length > MAXIMUM) return 'too_long'
  if (new Set(characters).size < DIFFERENT_MINIMUM) return 'repetitive'
  const cores = coresOf(password)
  if (cores.includes(userName.toLowerCase())) return 'user_name'
  return cores.some((core) => COMMON_PASSWORDS.has(core)) ? 'common' : undefined
}

/** Rejects with `validation_failed` and the reason. */
export function requireGoodPassword(password: string, userName: string): void {
  const fault = passwordFault(password, userName)
  if (fault) throw invalidField('password', FAULTS[fault])
}

const SPELLED: Readonly<Record<string, string>> = {
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
 * What is left of a password without what people add to a common one to make it long enough: capitals, saying it
 * again, digits and signs around it, digits for letters. Those additions are the first that a guesser tries.
 */
function coresOf(password: string): string[] {
  const unit = unitOf(password.toLowerCase())
  const withoutTail = unit.replace(/[^a-z]+$/, '')
  const spelled = withoutTail.replace(/[013457@$!]/g, (sign) => SPELLED[sign] ?? sign)
  return [unit, withoutTail, withoutHead(withoutTail), withoutHead(spelled)].map(unitOf)
}

function withoutHead(text: string): string {
  return text.replace(/^[^a-z]+/, '')
}

/** The shortest beginning whose repetition gives the text: `qwertyqwertyqw` → `qwerty`. */
function unitOf(text: string): string {
  for (let length = 1; length < text.length; length++) {
    if (text.startsWith(text.slice(length))) return text.slice(0, length)
  }
  return text
}
