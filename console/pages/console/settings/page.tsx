import { useSignal } from '@preact/signals'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { language } from '../../../i18n/language.ts'
import { localTimeZone } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { EmptyState } from '../../../parts/states.tsx'
import { CHINESE_DESCRIPTIONS } from './descriptions-zh.ts'
import { isDefault, settingsResource, type Setting } from './model.ts'
import { settingWords } from './words.ts'

/** The settings in effect, and where each value comes from. */
export function SettingsPage() {
  const words = settingWords()
  const settings = useResource(settingsResource, '')
  const filter = useSignal<SettingFilter>({ text: '', isChangedOnly: false })
  return (
    <>
      <PageHead title={words.title} />
      <p class="muted">{words.about}</p>
      <p class="muted">{words.timeZone(localTimeZone())}</p>
      <SettingFilters filter={filter.value} onChange={(changed) => (filter.value = changed)} />
      <ResourceView model={settings}>
        {({ file, items }) => (
          <>
            <p class="muted">{file === null ? words.noFile : words.file(isolateText(file))}</p>
            <SettingSections settings={matchSettings(items, filter.value)} />
          </>
        )}
      </ResourceView>
    </>
  )
}

interface SettingFiltersProps {
  readonly filter: SettingFilter
  readonly onChange: (filter: SettingFilter) => void
}

const FIND_ID = 'find-setting'

function SettingFilters({ filter, onChange }: SettingFiltersProps) {
  const words = settingWords()
  useActions(() => [{ title: words.find, keys: '/', run: () => document.getElementById(FIND_ID)?.focus() }])
  return (
    <search class="filters" aria-label={words.find}>
      <label class="filter">
        <span class="filter-name">{words.find}</span>
        <input
          id={FIND_ID}
          class="input"
          type="search"
          value={filter.text}
          onInput={({ currentTarget: { value: text } }) => onChange({ ...filter, text })}
        />
      </label>
      <label class="setting-choice checkbox">
        <input
          type="checkbox"
          checked={filter.isChangedOnly}
          onChange={({ currentTarget: { checked: isChangedOnly } }) => onChange({ ...filter, isChangedOnly })}
        />
        {words.changed}
      </label>
    </search>
  )
}

function SettingSections({ settings }: { readonly settings: readonly Setting[] }) {
  const words = settingWords()
  const names: Readonly<Record<string, string>> = words.sections
  if (settings.length === 0) return <EmptyState icon="settings" title={words.noMatch} />
  return (
    <section aria-label={words.list}>
      {[...settingSections(settings)].map(([section, settingsOfSection]) => (
        <div key={section}>
          <h2 class="section-title" id={`settings-${section}`}>
            {names[section] ?? section} <span class="muted">{words.count(settingsOfSection.length)}</span>
          </h2>
          <SettingTable section={section} settings={settingsOfSection} />
        </div>
      ))}
    </section>
  )
}

interface SettingTableProps {
  readonly section: string
  readonly settings: readonly Setting[]
}

function SettingTable({ section, settings }: SettingTableProps) {
  const { fields } = settingWords()
  return (
    <div class="table-frame card" role="region" aria-labelledby={`settings-${section}`} tabIndex={0}>
      <table class="data-table setting-table">
        <thead>
          <tr>
            <th scope="col">{fields.key}</th>
            <th scope="col">{fields.value}</th>
            <th scope="col">{fields.source}</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((setting) => (
            <SettingRow key={setting.key} setting={setting} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SettingRow({ setting }: { readonly setting: Setting }) {
  const words = settingWords()
  const { key, value, source } = setting
  const description = descriptionOf(setting)
  return (
    <tr>
      <th scope="row">
        <span class="mono">{key}</span>
        {description !== '' && <p class="setting-about">{description}</p>}
      </th>
      <td class="mono">
        <SettingValue value={isDefault(setting) ? value.replaceAll('`', '') : value} />
      </td>
      <td>
        {isDefault(setting) ? <span class="muted">{words.isDefault}</span> : <bdi>{sourceText(source)}</bdi>}
      </td>
    </tr>
  )
}

/** `environment TOKEN_TTL` in the language of the reader. */
function sourceText(source: string): string {
  const { sources } = settingWords()
  return source.replace(/^(file|environment|option)(?= )/, (kind) => sources[kind as keyof typeof sources])
}

/** What the API says of a setting without a value. */
const UNSET = '(unset)'

// A longer value makes its row higher than its description.
const FOLDED_LENGTH = 100

/** A long value is folded: its begin says which one it is. */
function SettingValue({ value }: { readonly value: string }) {
  if (value === UNSET) return <span class="muted">{settingWords().unset}</span>
  if (value.length <= FOLDED_LENGTH) return <bdi>{value}</bdi>
  return (
    <details>
      <summary>
        <bdi>{value.slice(0, FOLDED_LENGTH)} …</bdi>
      </summary>
      <bdi>{value}</bdi>
    </details>
  )
}

/** What a setting is for, in the language of the reader if it is known in that. */
function descriptionOf({ key, description }: Setting): string {
  const chinese = language.value === 'zh' ? CHINESE_DESCRIPTIONS[key] : undefined
  return chinese ?? description?.replaceAll('`', '') ?? ''
}

/** The settings by the first part of their keys, in their order. */
function settingSections(items: readonly Setting[]): ReadonlyMap<string, readonly Setting[]> {
  return Map.groupBy(items, ({ key }) => (key.includes('.') ? key.slice(0, key.indexOf('.')) : 'general'))
}

interface SettingFilter {
  readonly text: string
  readonly isChangedOnly: boolean
}

/** The settings whose key, value or description contains each word of the text. */
function matchSettings(
  items: readonly Setting[],
  { text, isChangedOnly }: SettingFilter,
): readonly Setting[] {
  const words = text.toLowerCase().split(/\s+/)
  return items.filter((setting) => {
    const searched =
      `${setting.key} ${setting.value} ${setting.description ?? ''} ${descriptionOf(setting)}`.toLowerCase()
    return !(isChangedOnly && isDefault(setting)) && words.every((word) => searched.includes(word))
  })
}
