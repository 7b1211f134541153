import type { Clock } from '../../src/kernel/clock.ts'
import type { Blobs } from './blobs.ts'
import { DirectoryBlobs, MemoryBlobs } from './blobs.ts'
import type { MockDriveConfig } from './env.ts'
import { FileTree } from './file-tree.ts'
import { randomText } from './random-text.ts'
import { SignedUrls } from './signed-urls.ts'
import { readStoredState, writeStoredState } from './stored-state.ts'
import { Tokens } from './tokens.ts'
import { Uploads } from './uploads.ts'

/** What the endpoints share. */
export interface MockDrive {
  readonly config: MockDriveConfig
  readonly clock: Clock
  readonly tokens: Tokens
  readonly files: FileTree
  readonly uploads: Uploads
  readonly urls: SignedUrls
  /** Stores the state in MOCK_DRIVE_DIR; does nothing in memory. */
  save(): void
  freeBytes(): number
}

/** In memory, or with the files and the state of MOCK_DRIVE_DIR. */
export function openMockDrive(config: MockDriveConfig, clock: Clock): MockDrive {
  const { directory } = config
  const blobs: Blobs = directory === undefined ? new MemoryBlobs() : new DirectoryBlobs(directory)
  const stored = directory === undefined ? undefined : readStoredState(directory)
  const tokens = new Tokens(clock, config.tokenTtlMs)
  const files = new FileTree(clock, blobs)
  const uploads = new Uploads(blobs)
  const urlKey = stored?.urlKey ?? randomText()
  if (stored) {
    tokens.restore(stored.tokens)
    files.restore(stored.entries)
    uploads.restore(stored.uploads)
  } else tokens.addRefreshToken(config.refreshToken.reveal())
  const save = () => {
    if (directory === undefined) return
    writeStoredState(directory, {
      urlKey,
      tokens: tokens.toStored(),
      entries: files.all(),
      uploads: uploads.all(),
    })
  }
  save()
  const freeBytes = () => config.quota - files.usedBytes() - uploads.usedBytes()
  return { config, clock, tokens, files, uploads, urls: new SignedUrls(clock, urlKey), save, freeBytes }
}
