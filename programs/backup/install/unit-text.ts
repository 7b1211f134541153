import { createHash } from 'node:crypto'
import { AppError } from '../../../src/kernel/errors.ts'

/** The sections of a unit, each with its lines: comments, and `Key=value`. */
export type UnitSections = Readonly<Record<string, readonly string[]>>

/** Who wrote a file, by its text: this program, unchanged; this program, changed by a person since; or somebody else. */
export type Authorship = 'unchanged' | 'changed' | 'foreign'

const MARK = /^# ([0-9a-f]{64}) is the SHA-256 of all lines below this one\.\n/

/** A unit file. Its first line has the hash of the rest, which shows later whether a person has changed it. */
export function unitText(name: string, sections: UnitSections): string {
  const blocks = Object.entries(sections).map(([section, lines]) => `[${section}]\n${lines.join('\n')}\n`)
  const text = [hint(name), ...blocks].join('\n')
  return `# ${hashOf(text)} is the SHA-256 of all lines below this one.\n${text}`
}

function hint(name: string): string {
  return [
    '# "platform backup install" writes this file, and leaves it alone as soon as it differs from its hash.',
    `# Put changes into a drop-in instead: systemctl edit ${name}`,
    '',
  ].join('\n')
}

/** Who wrote a file: its first line is compared with the rest, as {@link unitText} has written it. */
export function authorshipOf(text: string): Authorship {
  const mark = MARK.exec(text)
  if (!mark) return 'foreign'
  return hashOf(text.slice(mark[0].length)) === mark[1] ? 'unchanged' : 'changed'
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const PLAIN_WORD = /^[\w/.,:@+=-]+$/
const ESCAPED = /["\\]/g

/** A word of a list such as `ReadWritePaths=` (systemd.syntax(7), Quoting; systemd.unit(5), Specifiers). */
export function listWord(text: string): string {
  if (PLAIN_WORD.test(text)) return text
  return `"${wholeValue(text).replaceAll(ESCAPED, String.raw`\$&`)}"`
}

/** An argument of `ExecStart=`, where `$` begins a variable (systemd.service(5), Command lines). */
export function commandWord(text: string): string {
  return listWord(text).replaceAll('$', '$$$$')
}

/** A value that is one path, such as that of `WorkingDirectory=`, which has no quotes. */
export function wholeValue(text: string): string {
  if (/\p{Cc}/u.test(text))
    throw new AppError(
      'invalid',
      'path_not_supported',
      `${JSON.stringify(text)}: a unit cannot have this path`,
    )
  return text.replaceAll('%', '%%')
}
