import { readlinkSync } from 'node:fs'

// localtime(5): a link to the file of the zone, whose path ends with its name
const LOCAL_TIME = '/etc/localtime'
const ZONE = /\/zoneinfo\/(?:posix\/|right\/)?([A-Za-z][A-Za-z0-9_+/-]*)$/

/** The IANA name of the time zone of this process; `variable` is `TZ` of its environment. */
export function systemTimeZone(variable: string | undefined): string {
  // To ask `Intl` alone takes as long as to read all other settings.
  return (variable === undefined ? linkedTimeZone() : undefined) ?? intlTimeZone()
}

/** That of {@link LOCAL_TIME}; undefined where it is no link, or leads elsewhere. */
export function linkedTimeZone(): string | undefined {
  try {
    return ZONE.exec(readlinkSync(LOCAL_TIME))?.[1]
  } catch {
    return undefined
  }
}

function intlTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
