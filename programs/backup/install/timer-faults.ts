import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { linkedTimeZone } from '../../../src/config/backup-types.ts'
import { sentenceWith } from '../../../src/kernel/errors.ts'
import type { InstalledProgram, InstallSettings } from './settings.ts'
import { authorshipOf } from './unit-text.ts'
import { unitsFor } from './units.ts'

/** A timer that systemd elapses at other times than the configuration says. */
export interface TimerFault {
  /** `platform-backup.timer` */
  readonly name: string
  /** What it elapses at, as systemd reads it: `*-*-* 02:00:00 Europe/Berlin`. */
  readonly calendar: readonly string[]
  readonly expected: readonly string[]
  /** What to do; without a full stop. */
  readonly remedy: string
  /** Which remedy that is. */
  readonly remedyCode: keyof typeof TIMER_REMEDIES
  /** The files of the timer that the remedy names. */
  readonly files: readonly string[]
}

/** What to do about a timer, by its code. */
export const TIMER_REMEDIES = {
  own: 'run as root: platform backup install',
  drop_in: 'correct OnCalendar in {files}, then run as root: systemctl daemon-reload',
  changed: 'the file was changed by hand; run as root: rm {files} && platform backup install',
} as const

/**
 * The installed timers in another zone than the configuration, and those of a former configuration. A person may choose other
 * times of the same zone.
 */
export function timerFaults(
  settings: InstallSettings,
  directory: string,
  localZone = linkedTimeZone() ?? 'UTC',
): TimerFault[] {
  const timers = unitsFor(settings, NO_PROGRAM).filter(({ name }) => name.endsWith('.timer'))
  return timers.flatMap(({ name, text }) => {
    const path = join(directory, name)
    if (!existsSync(path)) return []
    const [own, dropIns] = [readFileSync(path, 'utf8'), dropInsOf(path)]
    const calendar = calendarIn([own, ...dropIns.map((each) => readFileSync(each, 'utf8'))])
    const expected = calendarIn([text])
    const isOwn = authorshipOf(own) === 'unchanged' && dropIns.length === 0
    const isElsewhere = calendar.some((line) => !isSameZone(zoneOf(line, localZone), settings.timeZone))
    if (!isElsewhere && !(isOwn && calendar.join() !== expected.join())) return []
    return [{ name, calendar, expected, ...remedyOf(path, isOwn, dropIns) }]
  })
}

/** The calendar of a timer names no program. */
const NO_PROGRAM: InstalledProgram = { command: [], configFile: undefined, workingDirectory: '/' }

function remedyOf(path: string, isOwn: boolean, dropIns: readonly string[]) {
  if (isOwn) return remedyFor('own', [])
  return dropIns.length > 0 ? remedyFor('drop_in', dropIns) : remedyFor('changed', [path])
}

function remedyFor(remedyCode: keyof typeof TIMER_REMEDIES, files: readonly string[]) {
  return { remedy: sentenceWith(TIMER_REMEDIES[remedyCode], { files }), remedyCode, files }
}

function dropInsOf(path: string): string[] {
  const directory = `${path}.d`
  if (!existsSync(directory)) return []
  const names = readdirSync(directory).filter((name) => name.endsWith('.conf'))
  return names.toSorted().map((name) => join(directory, name))
}

/** An empty value removes all before it (systemd.timer(5), OnCalendar=); spaces around `=` do not count (systemd.syntax(7)). */
function calendarIn(texts: readonly string[]): string[] {
  const lines = texts.join('\n').matchAll(/^[ \t]*OnCalendar[ \t]*=(.*)$/gm)
  const values = [...lines].map(([, value = '']) => value.trim())
  return values.slice(values.lastIndexOf('') + 1)
}

/** The time zone that a line names, else that of the host. */
function zoneOf(line: string, localZone: string): string {
  const last = line.split(/\s+/).at(-1) ?? ''
  return /^[A-Za-z][\w+/-]*$/.test(last) && isZone(last) ? last : localZone
}

function isZone(name: string): boolean {
  return canonicalZone(name) !== undefined
}

function isSameZone(one: string, other: string): boolean {
  return one === other || canonicalZone(one) === canonicalZone(other)
}

function canonicalZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
