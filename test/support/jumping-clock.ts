import { globSync, renameSync, writeFileSync } from 'node:fs'

const LIBRARY = '/usr/lib/*/faketime/libfaketimeMT.so.1'
const SECOND_MS = 1_000
const FAKED = {
  LD_PRELOAD: globSync(LIBRARY)[0] ?? '',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  NO_FAKE_STAT: '1',
}

/** Why a {@link createJumpingClock} does not work on this machine; undefined if it does. */
export function missingFaketime(): string | undefined {
  return globSync(LIBRARY).length > 0 ? undefined : 'it needs the Debian package faketime'
}

/** Environment variables with which the clock of a process differs from the real time by that many minutes. */
export function fakedClock(minutes: number): Readonly<Record<string, string>> {
  return { ...FAKED, FAKETIME: `${minutes < 0 ? '' : '+'}${minutes}m` }
}

/** The clock of another process, with an offset from the real time, which is kept in a file. */
export function createJumpingClock(file: string) {
  let offset = 0
  const write = () => {
    const seconds = offset / SECOND_MS
    writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    // Atomic, because a partly written number would be another jump.
    renameSync(`${file}.new`, file)
  }
  write()
  return {
    env: {
      ...FAKED,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
    },
    now: () => Date.now() + offset,
    set(time: number) {
      offset = Math.round((time - Date.now()) / SECOND_MS) * SECOND_MS
      write()
    },
  }
}
