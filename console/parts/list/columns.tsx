import { localNumber, localTime } from '../../i18n/local.ts'
import { RelativeTime } from '../relative-time.tsx'
import { StatusBadge, type BadgeTone } from '../status-badge.tsx'
import type { TableColumn } from './data-table.tsx'

type Layout = Pick<TableColumn<never>, 'isNumeric' | 'isWideOnly' | 'isFromMedium' | 'isOptional'>

/** The fields of an item that have such a value and a title. */
type KeysOf<Item, Titles, Value> = {
  [Key in keyof Item & keyof Titles & string]: Item[Key] extends Value ? Key : never
}[keyof Item & keyof Titles & string]

/** The columns of a list, each under the title of a field: the field in a usual form, or what `cell` draws. */
export function fieldColumns<Item, Titles extends Readonly<Record<string, string>>>(titles: Titles) {
  type Column = TableColumn<Item>
  const head = (key: keyof Titles & string, layout: Layout) => ({ key, title: titles[key] ?? key, ...layout })
  return {
    cell: (key: keyof Titles & string, cell: Column['cell'], layout: Layout = {}): Column => ({
      ...head(key, layout),
      cell,
    }),
    text: (key: KeysOf<Item, Titles, string | null>, layout: Layout = {}): Column => ({
      ...head(key, layout),
      cell: (item) => <bdi>{String(item[key] ?? '–')}</bdi>,
    }),
    code: (key: KeysOf<Item, Titles, string | null>, layout: Layout = {}): Column => ({
      ...head(key, layout),
      cell: (item) => <bdi class="mono">{String(item[key] ?? '–')}</bdi>,
    }),
    number: (key: KeysOf<Item, Titles, number>, layout: Layout = {}): Column => ({
      ...head(key, layout),
      isNumeric: true,
      cell: (item) => localNumber(Number(item[key])),
    }),
    /** How long ago, or how far ahead; a dash without a time. */
    time: (key: KeysOf<Item, Titles, string | null>, layout: Layout = {}, none = '–'): Column => ({
      ...head(key, layout),
      cell: ({ [key]: time }) => (typeof time === 'string' ? <RelativeTime time={time} /> : none),
    }),
    /** The full time, for items that are known by their time. */
    exactTime: (key: KeysOf<Item, Titles, string>, layout: Layout = {}): Column => ({
      ...head(key, layout),
      cell: (item) => <time dateTime={String(item[key])}>{localTime(String(item[key]))}</time>,
    }),
    status: <Key extends KeysOf<Item, Titles, string>>(
      key: Key,
      tones: Readonly<Record<Item[Key] & string, BadgeTone>>,
      labels: Readonly<Record<Item[Key] & string, string>>,
      layout: Layout = {},
    ): Column => ({
      ...head(key, layout),
      cell: ({ [key]: value }) => (
        <StatusBadge tone={tones[value as Item[Key] & string]} label={labels[value as Item[Key] & string]} />
      ),
    }),
  }
}
