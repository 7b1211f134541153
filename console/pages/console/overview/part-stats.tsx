import type { ComponentChildren } from 'preact'
import { isolated } from '../../../i18n/isolated.ts'
import { localDays, localDistance, localNumber, localTime } from '../../../i18n/local.ts'
import { formatShare } from '../../../parts/format.ts'
import { addressOf, type ListQuery } from '../../../parts/list/list-query.ts'
import { poolTone } from '../../../parts/pool-tone.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import type { Stat } from '../../../parts/stats.tsx'
import { pathOf } from '../view.ts'
import { PART_TONES, totalOf, type Overview, type PartName } from './model.ts'
import { overviewWords } from './words.ts'

type Words = ReturnType<typeof overviewWords>

interface PartText {
  readonly value: string
  readonly note?: ComponentChildren
}

/** The page of a part in the console: it exists for the roles that may read the part. */
const PART_PAGES: Readonly<Record<PartName, string>> = {
  alerts: 'alerts',
  heartbeats: 'heartbeats',
  tickets: 'tickets',
  messages: 'messages',
  executions: 'executions',
  sessions: 'vpn-sessions',
  pool: 'vpn-sessions',
  certificates: 'certificates',
  data_backups: 'data-backups',
  night: 'alerts',
  drill: 'heartbeats',
}
// The filters with which a page shows what its part counts, or what is a problem in it; without them it shows everything.
const FIRING = { status: 'firing' }
const PART_QUERIES: { readonly [Name in PartName]?: (part: Part<Name>) => ListQuery } = {
  alerts: () => FIRING,
  // The list has no filter for what is not closed; the board has a column for each status.
  tickets: () => ({ view: 'board' }),
  messages: ({ dead }) => ({ status: dead > 0 ? 'dead' : 'pending' }),
  executions: () => ({ status: 'awaiting_approval' }),
  certificates: ({ expired, expiring }) =>
    expired > 0 ? { status: 'expired' } : expiring > 0 ? { status: 'expiring' } : {},
}
// The object that a part is about, or in which it has its problem; without one its list.
const PART_OBJECTS: { readonly [Name in PartName]?: (part: Part<Name>) => string | null } = {
  heartbeats: ({ late, items: [first] }) => (late === 1 && first ? first.name : null),
  night: ({ last }) => last?.alert_id ?? null,
  drill: ({ status }) => (status === null ? null : 'backup-restore-drill'),
}
const PART_NAMES = Object.keys(PART_PAGES) as readonly PartName[]

/** What the overview says about each part that the user may read. */
export function partStats(overview: Overview): readonly Stat[] {
  return PART_NAMES.flatMap((name) => partStat(name, overview))
}

function partStat<Name extends PartName>(name: Name, overview: Overview): Stat[] {
  const part = overview[name]
  if (part === null) return []
  const words = overviewWords()
  const tone = TONES[name](part)
  const { value, note } = TEXTS[name](part, words, Date.parse(overview.at))
  return [
    {
      name: words.parts[name],
      value,
      status: { tone, label: words.tones[tone] },
      href: partAddress(name, part),
      ...(note && { note }),
    },
  ]
}

function partAddress<Name extends PartName>(name: Name, part: Part<Name>): string {
  const page = pathOf({ name: PART_PAGES[name] })
  const id = PART_OBJECTS[name]?.(part) ?? null
  return id === null ? addressOf(page, PART_QUERIES[name]?.(part) ?? {}) : `${page}/${encodeURIComponent(id)}`
}

type Part<Name extends PartName> = NonNullable<Overview[Name]>

const TONES: { readonly [Name in PartName]: (part: Part<Name>) => Tone } = { ...PART_TONES, pool: poolTone }

type Counts = Readonly<Record<string, number>>
type Labels = Readonly<Record<string, string>>

/** `2 critical` and `1 high`, each with its name; nothing for counts of 0. */
function countTexts(counts: Counts, labels: Labels): readonly (readonly [name: string, text: string])[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => [name, `${localNumber(count)} ${labels[name] ?? name}`])
}

interface SeverityLinksProps {
  readonly counts: Counts
  readonly severities: Labels
}

/** Each count leads to its alerts. */
function SeverityLinks({ counts, severities }: SeverityLinksProps) {
  return (
    <span class="stat-links">
      {countTexts(counts, severities).map(([level, text]) => (
        <a key={level} href={addressOf(pathOf({ name: 'alerts' }), { ...FIRING, level })}>
          {text}
        </a>
      ))}
    </span>
  )
}

const TEXTS: {
  readonly [Name in PartName]: (part: Part<Name>, words: Words, now: number) => PartText
} = {
  alerts: (counts, { severities }) => ({
    value: localNumber(totalOf(counts)),
    note: totalOf(counts) > 0 && <SeverityLinks counts={counts} severities={severities} />,
  }),
  heartbeats: ({ late, items }) => ({
    value: localNumber(late),
    note: items.map(({ name }) => name).join(', '),
  }),
  tickets: (counts, { levels }) => ({
    value: localNumber(totalOf(counts)),
    note: countTexts(counts, levels)
      .map(([, text]) => text)
      .join(' · '),
  }),
  messages: (
    { pending, dead, oldest_pending_at: oldest, bus },
    { deadMessages, oldestMessage, busStates },
    now,
  ) => ({
    value: localNumber(pending),
    note: [
      bus !== 'ok' && busStates[bus],
      dead > 0 && deadMessages(localNumber(dead)),
      oldest !== null && oldestMessage(localDistance(oldest, now)),
    ]
      .filter(Boolean)
      .join(' · '),
  }),
  executions: ({ awaiting_approval, oldest_at }, { oldestRequest }, now) => ({
    value: localNumber(awaiting_approval),
    note: oldest_at === null ? '' : oldestRequest(localDistance(oldest_at, now)),
  }),
  sessions: ({ open }) => ({ value: localNumber(open) }),
  pool: ({ size, used, free }, { used: usedText, freeOf }) => ({
    value: usedText(formatShare(used, size)),
    note: freeOf(localNumber(free), localNumber(size)),
  }),
  certificates: ({ expiring, expired, items: [first] }, { expiredCertificates, firstToEnd }) => ({
    value: localNumber(expiring + expired),
    note: [
      expired > 0 && expiredCertificates(localNumber(expired)),
      first && firstToEnd(isolated(first.name), localDays(first.days_left)),
    ]
      .filter(Boolean)
      .join(' · '),
  }),
  data_backups: ({ last }, { never, lasts, noDataBackup }) =>
    last === null
      ? { value: never, note: noDataBackup }
      : { value: lasts[last.status], note: localTime(last.finished_at ?? last.created_at) },
  night: ({ last }, { never, lasts, lastFailure, lastSuccess, noNight }) => {
    if (last === null) return { value: never, note: noNight }
    const { status, succeeded_at, failed_at } = last
    return {
      value: lasts[status],
      note: [
        failed_at !== null && lastFailure(localTime(failed_at)),
        succeeded_at !== null && lastSuccess(localTime(succeeded_at)),
      ]
        .filter(Boolean)
        .join(' · '),
    }
  },
  drill: ({ status, last_passed_at }, { never, drills, lastSuccess, noDrill }) => ({
    value: status === null ? never : drills[status],
    note: last_passed_at === null ? noDrill : lastSuccess(localTime(last_passed_at)),
  }),
}
