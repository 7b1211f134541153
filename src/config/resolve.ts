import { hostname } from 'node:os'
import type { Cidr } from './address-types.ts'
import { describeValue, type Problem } from './config-error.ts'
import type { DefaultContext, Setting, SettingTable } from './setting.ts'
import { givenValue, type GivenValue, type SourceOptions } from './sources.ts'
import type { TomlFile } from './toml-file.ts'
import { MODULES, type ModuleName } from './value-types.ts'

/** The value of a setting, undefined when it is unset or wrong, and where it came from. */
export interface Resolved {
  readonly value: unknown
  readonly source: string
  readonly problem?: Problem | undefined
}

export interface ResolveOptions extends SourceOptions {
  /** Whether the log goes to a terminal. */
  readonly terminal?: boolean
}

const DEFAULT = 'default'

/** Checks the given value, or the default, of each setting. Never throws: each result has its value or its problem. */
export function resolveSettings(
  settings: SettingTable,
  file: TomlFile,
  options: ResolveOptions,
): ReadonlyMap<string, Resolved> {
  const { cwd, terminal = false } = options
  const resolved = new Map<string, Resolved>()
  for (const [key, setting] of Object.entries(settings)) {
    const modules = (resolved.get('module')?.value ?? MODULES) as readonly ModuleName[]
    const dataDir = (resolved.get('data_dir')?.value ?? cwd) as string
    const installRoot = (resolved.get('backup.install_root')?.value ?? cwd) as string
    const mirrorFrom = resolved.get('gateway.mirror_from')?.value as string | undefined
    const clientAddressFrom = (resolved.get('proxy.client_address_from')?.value ?? []) as readonly Cidr[]
    const given =
      givenValue(options, file, key, setting, modules) ??
      defaultValue(setting, {
        hostName: hostname(),
        terminal,
        modules,
        dataDir,
        mirrorFrom,
        clientAddressFrom,
        installRoot,
        timeZoneVariable: options.env['TZ'],
      })
    resolved.set(key, check(key, setting, given, cwd))
  }
  return new Map([...resolved].map(([key, each]) => [key, checkOthers(key, settings[key], each, resolved)]))
}

function defaultValue({ default: given }: Setting, context: DefaultContext): GivenValue {
  const text = typeof given === 'function' ? given(context) : given
  return { text, value: text, source: DEFAULT }
}

function check(key: string, { type, secret }: Setting, given: GivenValue, cwd: string): Resolved {
  const { text, source } = given
  const value = text === undefined ? undefined : type.parse(text, cwd)
  if (source === DEFAULT || value !== undefined) return { value, source }
  const item = text === undefined ? undefined : type.faultyItem?.(text)
  if (item)
    return { value, source, problem: { source, key: `${key}[${item.index}]`, expected: item.expected } }
  const got = secret ? undefined : describeValue(given.value)
  return { value, source, problem: { source, key, expected: type.expected, got } }
}

/** Checks a setting against the others. */
function checkOthers(
  key: string,
  { needs = [], expectedBeside }: Partial<Setting> = {},
  given: Resolved,
  resolved: ReadonlyMap<string, Resolved>,
): Resolved {
  const { source, problem, value } = given
  if (problem || source === DEFAULT) return given
  const missing = [needs].flat().find((needed) => resolved.get(needed)?.source === DEFAULT)
  if (missing !== undefined) return { ...given, problem: { source, key, expected: `${missing} beside it` } }
  const expected = expectBeside(() => expectedBeside?.(value, (other) => valueOf(resolved.get(other))))
  return expected === undefined ? given : { ...given, problem: { source, key, expected } }
}

class FaultySetting extends Error {}

function valueOf(setting: Resolved | undefined): unknown {
  if (setting?.problem) throw new FaultySetting()
  return setting?.value
}

/** A comparison with a faulty setting says nothing: that setting has its own problem. */
function expectBeside(compare: () => string | undefined): string | undefined {
  try {
    return compare()
  } catch (error) {
    if (error instanceof FaultySetting) return undefined
    throw error
  }
}
