import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Drive } from '../../programs/backup/drive/port.ts'
import { openRemoteDrive, type RemoteDriveOptions } from '../../programs/backup/drive/remote-drive.ts'
import { TokenFile } from '../../programs/backup/drive/token-file.ts'
import type { MockEnvironment } from '../../programs/mock-server/variables.ts'
import { systemClock, type WaitingClock } from '../../src/kernel/clock.ts'
import { Secret } from '../../src/kernel/secret.ts'
import {
  DRIVE_CLIENT_ID,
  DRIVE_CLIENT_SECRET,
  DRIVE_ID,
  DRIVE_REFRESH_TOKEN,
  startTestDrive,
  type TestDrive,
} from './mock-drive.ts'

export interface DriveWorld extends AsyncDisposable {
  readonly mock: TestDrive
  readonly tokenPath: string
  /** Pauses that the clients have made, in milliseconds. They take no time. */
  readonly pauses: readonly number[]
  /** A client of its own, as another process would have it. */
  open(options?: Partial<RemoteDriveOptions>): Drive
  /** The members of the token file. */
  tokens(): Record<string, unknown>
}

/** A mock drive and a token file with an expired access token. */
export async function driveWorld(env: MockEnvironment = {}): Promise<DriveWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'drive-world-'))
  const mock = await startTestDrive(env, systemClock)
  const tokenPath = join(directory, 'drive-token.json')
  writeTokenFile(tokenPath)
  const { clock, pauses } = skippingClock()
  const opened: Drive[] = []
  return {
    mock,
    tokenPath,
    pauses,
    open(options = {}) {
      const drive = openRemoteDrive({
        apiUrl: mock.url,
        apiPrefix: '/adrive/v1.0',
        secrets: { clientId: DRIVE_CLIENT_ID, clientSecret: new Secret(DRIVE_CLIENT_SECRET) },
        tokenFile: new TokenFile(tokenPath),
        partSize: 1_000,
        clock,
        ...options,
      })
      opened.push(drive)
      return drive
    },
    tokens: () => JSON.parse(readFileSync(tokenPath, 'utf8')) as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      for (const drive of opened) drive.close()
      await mock.close(0)
      rmSync(directory, { recursive: true })
    },
  }
}

export function writeTokenFile(path: string, members: Readonly<Record<string, unknown>> = {}): void {
  const tokens = {
    access_token: 'stale',
    refresh_token: DRIVE_REFRESH_TOKEN,
    expires_in: 7_200,
    updated_at: '2026-01-31T02:00:00.000Z',
    drive_id: DRIVE_ID,
    root_dir: 'servers/main',
    ...members,
  }
  writeFileSync(path, JSON.stringify(tokens), { mode: 0o600 })
}

/** The pauses between tries have no signal and are skipped; the limits of calls have one and last as long as they say. */
function skippingClock(): { readonly clock: WaitingClock; readonly pauses: number[] } {
  const pauses: number[] = []
  let skipped = 0
  const clock: WaitingClock = {
    now: () => systemClock.now() + skipped,
    monotonic: () => systemClock.monotonic() + skipped,
    wait(milliseconds, signal) {
      if (signal) return systemClock.wait(milliseconds, signal)
      pauses.push(milliseconds)
      skipped += milliseconds
      return new Promise((resolve) => void setImmediate(resolve))
    },
  }
  return { clock, pauses }
}

export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
