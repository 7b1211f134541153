/** What only a gateway may say. */
const NAMES = [
  'x-user-id',
  'x-user-name',
  'x-user-roles',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-user',
  'x-real-ip',
]

type Respell = (words: readonly string[]) => string

const joined =
  (separator: string): Respell =>
  (words) =>
    words.join(separator)

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)
const alternating = (text: string, offset: number) =>
  [...text].map((letter, index) => ((index + offset) % 2 ? letter.toUpperCase() : letter)).join('')

const CASES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.split('-').map(capital).join('-'),
  (text) => alternating(text, 0),
  (text) => alternating(text, 1),
]

/** Separators between the words of a name that a lenient parser may accept. */
const JOINS: readonly Respell[] = [
  joined('-'),
  joined('_'),
  joined('.'),
  joined('~'),
  joined(''),
  joined('--'),
  joined('_-'),
  joined('*'),
  ([first = '', ...rest]) => `${first}_${rest.join('-')}`,
  ([first = '', ...rest]) => `${first}-${rest.join('_')}`,
  (words) => `_${words.join('_')}`,
  (words) => `${words.join('-')}-`,
  (words) => `-${words.join('-')}`,
  (words) => `'${words.join('-')}'`,
]

/** Names that are no names: what a lax reader could still take for one. */
const BROKEN: readonly ((name: string) => string)[] = [
  (name) => `${name} `,
  (name) => `${name}\t`,
  (name) => ` ${name}`,
  (name) => `${name}\0`,
  (name) => name.replace('-', ' '),
  (name) => name.replace('x', '\u00d7'),
  (name) => `a: b\n${name}`,
  (name) => `a: b\r${name}`,
  (name) => `a:\r\n ${name}`,
]

export interface Spelling {
  readonly name: string
  /** Whether HTTP allows it as a name. */
  readonly isName: boolean
}

/** More than 500 ways to write the headers that a client must not set. */
export const SPELLINGS: readonly Spelling[] = [
  ...new Set(
    NAMES.flatMap((name) =>
      JOINS.flatMap((join) => CASES.map((respell) => respell(name).split('-')).map(join)),
    ),
  ),
].map((name) => ({ name, isName: true }))

export const BROKEN_SPELLINGS: readonly Spelling[] = NAMES.flatMap((name) =>
  BROKEN.map((respell) => ({ name: respell(name), isName: false })),
)
