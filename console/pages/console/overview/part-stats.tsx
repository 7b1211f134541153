import type { ComponentChildren } from 'preact'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localDays, localDistance, localNumber, localTime } from '../../../i18n/local.ts'
import { formatShare } from '../../../parts/format.ts'
import { addressOf, type ListQuery } from '../../../parts/list/list-query.ts'
import { poolTone } from '../../../parts/pool-tone.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import type { Stat } from '../../../parts/stats.tsx'
import { FIRING_SEVERITIES } from '../alerts/severities.ts'
import { pathOf } from '../view.ts'
import { PART_TONES, totalOf, type Overview, type PartName } from './model.ts'
import { overviewWords } from './words.ts'
import type { PageName } from '../page-words.ts'

type Words = ReturnType<typeof overviewWords>

interface PartText {
  readonly value: string
  readonly note?: ComponentChildren
}

/** The page of a part in the console: it exists for the roles that may read the part. */
const PART_PAGES: Readonly<Record<PartName, PageName>> = {
  alerts: 'alerts',
  heartbeats: 'heartbeats',
  tickets: 'tickets',
  messages: 'messages',
  executions: 'executions',
  payments: 'payments',
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
  payments: ({ attention }) => (attention > 0 ? { attention: 'any' } : {}),
  certificates({ expired, expiring }) {
    if (expired > 0) return { status: 'expired' }
    return expiring > 0 ? { status: 'expiring' } : {}
  },
}
// The object that a part is about, or in which it has its problem; without one its list.
const PART_OBJECTS: { readonly [Name in PartName]?: (part: Part<Name>) => string | null } = {
  heartbeats: ({ late, items: [first] }) => (late === 1 && first ? first.name : null),
  night: ({ last }) => last?.alert_id ?? null,
  drill: ({ status }) => (status === null ? null : 'backup-restore-drill'),
}
// Whether the page of the part can show anything of it.
const HAS_ADDRESS: { readonly [Name in PartName]?: (part: Part<Name>) => boolean } = {
  night: ({ last }) => last !== null,
  drill: ({ status }) => status !== null,
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
  const now = Date.parse(overview.at)
  const tone = TONES[name](part, now)
  const { value, note } = TEXTS[name](part, words, now)
  return [
    {
      name: words.parts[name],
      value,
      status: { tone, label: words.tones[tone] },
      ...(HAS_ADDRESS[name]?.(part) !== false && { href: partAddress(name, part) }),
      ...(note && { note }),
    },
  ]
}

/** Where the page of a part shows what is a problem in it. */
export function partAddress<Name extends PartName>(name: Name, part: Part<Name>): string {
  const page = PART_PAGES[name]
  const id = PART_OBJECTS[name]?.(part) ?? null
  return id === null ? addressOf(pathOf(page), PART_QUERIES[name]?.(part) ?? {}) : pathOf(page, id)
}

type Part<Name extends PartName> = NonNullable<Overview[Name]>

const TONES: { readonly [Name in PartName]: (part: Part<Name>, now: number) => Tone } = {
  ...PART_TONES,
  pool: poolTone,
}

/** How the state of a part is judged; undefined for one that the user may not read. */
export function partTone<Name extends PartName>(name: Name, overview: Overview): Tone | undefined {
  const part = overview[name]
  return part === null ? undefined : TONES[name](part, Date.parse(overview.at))
}

type Counts = Readonly<Record<string, number>>
type Labels = Readonly<Record<string, string>>

interface CountLink {
  readonly text: string
  readonly href: string
}

/** `2 critical` and `1 high`, each with the address of what it counts; nothing for counts of 0. */
function countLinks(
  counts: Counts,
  textOf: (name: string, count: string) => string,
  hrefOf: (name: string) => string,
): readonly CountLink[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({ text: textOf(name, localNumber(count)), href: hrefOf(name) }))
}

/** Counts as links to what they count, followed by a text. */
function CountLinks({
  links,
  text,
}: {
  readonly links: readonly CountLink[]
  readonly text?: string | false
}) {
  return (
    <span class="stat-links">
      {links.map(({ text: count, href }) => (
        <a key={href} href={href}>
          {count}
        </a>
      ))}
      {text && <span>{text}</span>}
    </span>
  )
}

const alertAddress = (query: ListQuery) => addressOf(pathOf('alerts'), query)
const ticketAddress = (level: string) => addressOf(pathOf('tickets'), { status: 'unclosed', level })

function alertLinks({ firing, acknowledged, frozen }: Part<'alerts'>): readonly CountLink[] {
  const { severities, acknowledgedAlerts, frozenAlerts } = overviewWords()
  const nameOf = (severity: string) => (severities as Labels)[severity] ?? severity
  const held = Map.groupBy(acknowledged, ({ severity }) => severity)
  const heldCounts = Object.fromEntries(
    FIRING_SEVERITIES.map((severity) => [severity, held.get(severity)?.length ?? 0]),
  )
  return [
    ...countLinks(
      firing,
      (severity, count) => `${count} ${nameOf(severity)}`,
      (level) => alertAddress({ ...FIRING, level }),
    ),
    ...countLinks(
      heldCounts,
      (severity, count) => acknowledgedAlerts(count, nameOf(severity)),
      (level) => alertAddress({ status: 'acknowledged', level }),
    ),
    ...countLinks(
      { frozen: frozen.length },
      (_, count) => frozenAlerts(count),
      (status) => alertAddress({ status }),
    ),
  ]
}

function joinTexts(...texts: readonly (string | false)[]): string {
  return texts.filter(Boolean).join(' · ')
}

const TEXTS: {
  readonly [Name in PartName]: (part: Part<Name>, words: Words, now: number) => PartText
} = {
  alerts: (alerts, { oldest }, now) => {
    const links = alertLinks(alerts)
    const { oldestAt } = alerts
    return {
      value: localNumber(totalOf(alerts.firing)),
      note: links.length > 0 && (
        <CountLinks links={links} text={oldestAt !== null && oldest(localDistance(oldestAt, now))} />
      ),
    }
  },
  heartbeats: ({ late, items }, _, now) => ({
    value: localNumber(late),
    note: items
      .map(({ name, missed_at: at }) => (at === null ? name : `${name} (${localDistance(at, now)})`))
      .join(', '),
  }),
  tickets: (counts, { levels }) => ({
    value: localNumber(totalOf(counts)),
    note: totalOf(counts) > 0 && (
      <CountLinks
        links={countLinks(
          counts,
          (level, count) => `${count} ${(levels as Labels)[level] ?? level}`,
          ticketAddress,
        )}
      />
    ),
  }),
  // Dead messages are a problem, waiting ones are not: the number is that of the problem.
  messages: (
    { pending, dead, oldest_pending_at: pendingAt, oldest_dead_at: deadAt, bus },
    { deadMessages, waitingMessages, oldest, busStates },
    now,
  ) => {
    const oldestAt = dead > 0 ? deadAt : pendingAt
    return {
      value: dead > 0 ? deadMessages(localNumber(dead)) : localNumber(pending),
      note: joinTexts(
        bus !== 'ok' && busStates[bus],
        oldestAt !== null && oldest(localDistance(oldestAt, now)),
        dead > 0 && waitingMessages(localNumber(pending)),
      ),
    }
  },
  executions: ({ awaiting_approval, oldest_at }, { oldest }, now) => ({
    value: localNumber(awaiting_approval),
    note: oldest_at === null ? '' : oldest(localDistance(oldest_at, now)),
  }),
  payments: ({ attention, oldest_at }, { oldest }, now) => ({
    value: localNumber(attention),
    note: oldest_at === null ? '' : oldest(localDistance(oldest_at, now)),
  }),
  sessions: ({ open }) => ({ value: localNumber(open) }),
  pool: ({ size, used, free }, { used: usedText, freeOf }) => ({
    value: usedText(formatShare(used, size)),
    note: freeOf(localNumber(free), localNumber(size)),
  }),
  certificates: ({ expiring, expired, items: [first] }, { expiredCertificates, firstToEnd }) => ({
    value: localNumber(expiring + expired),
    note: joinTexts(
      expired > 0 && expiredCertificates(localNumber(expired)),
      first !== undefined && firstToEnd(isolateText(first.name), localDays(first.days_left)),
    ),
  }),
  data_backups: (
    { last, backup_every_seconds: every },
    { never, lasts, noDataBackup, noRegularBackup },
    now,
  ) =>
    last === null
      ? { value: never, note: noDataBackup }
      : {
          value: lasts[last.status],
          note: joinTexts(
            localDistance(last.finished_at ?? last.created_at, now),
            every === null && noRegularBackup,
          ),
        },
  night: ({ last }, { never, lasts, lastFailure, lastSuccess, noNight }) => {
    if (last === null) return { value: never, note: noNight }
    const { status, succeeded_at, failed_at } = last
    return {
      value: lasts[status],
      note: joinTexts(
        failed_at !== null && lastFailure(localTime(failed_at)),
        succeeded_at !== null && lastSuccess(localTime(succeeded_at)),
      ),
    }
  },
  drill: ({ status, last_passed_at }, { never, drills, lastSuccess, noDrill }) => ({
    value: status === null ? never : drills[status],
    note: last_passed_at === null ? noDrill : lastSuccess(localTime(last_passed_at)),
  }),
}
