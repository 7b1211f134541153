import { createHmac } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../src/kernel/clock.ts'
import { DAY } from '../../src/kernel/time.ts'
import { systemErrorCode } from '../files/system-error.ts'
import { isSameSecret } from '../mock-server/equality.ts'
import { randomText } from '../mock-server/random-text.ts'
import { ValueError } from '../mock-server/value-error.ts'
import { DirectoryBlobs, MemoryBlobs, type Blobs } from './blobs.ts'
import type { Entry } from './entries.ts'
import type { MockDriveConfig } from './env.ts'
import { FileTree } from './file-tree.ts'
import { Uploads, type Upload } from './uploads.ts'

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

/** Opens a drive in memory, or with the files and the state of MOCK_DRIVE_DIR. */
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

type UrlState = 'valid' | 'expired' | 'forged'

/** URLs that need no token: the path and the end of their life are signed. */
class SignedUrls {
  readonly #clock: Clock
  readonly #key: string
  readonly #expired = new Set<string>()

  constructor(clock: Clock, key: string) {
    this.#clock = clock
    this.#key = key
  }

  /** Path and query of a URL that is valid for that time. */
  sign(path: string, ttlMs: number): string {
    const expires = String(this.#clock.now() + ttlMs)
    return `${path}?x-expires=${expires}&x-signature=${this.#signature(path, expires)}`
  }

  check(path: string, query: URLSearchParams): UrlState {
    const expires = query.get('x-expires') ?? ''
    const signature = query.get('x-signature') ?? ''
    if (!isSameSecret(signature, this.#signature(path, expires))) return 'forged'
    return this.#expired.has(signature) || Number(expires) <= this.#clock.now() ? 'expired' : 'valid'
  }

  /** Makes a URL expire now. */
  expire(query: URLSearchParams): void {
    this.#expired.add(query.get('x-signature') ?? '')
  }

  #signature(path: string, expires: string): string {
    return createHmac('sha256', this.#key).update(`${expires}\n${path}`).digest('base64url')
  }
}

/** Everything but the contents of files. */
interface StoredState {
  readonly urlKey: string
  readonly tokens: StoredTokens
  readonly entries: readonly Entry[]
  readonly uploads: readonly Upload[]
}

const FILE = 'state.json'

/** Undefined in a new directory. Throws a {@link ValueError} for a file that another program has changed. */
function readStoredState(directory: string): StoredState | undefined {
  const path = join(directory, FILE)
  try {
    return requireState(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw new ValueError(`MOCK_DRIVE_DIR: expected ${path} to be a state that mock-drive has written`, {
      cause: error,
    })
  }
}

function requireState(value: unknown): StoredState {
  const { entries, uploads, tokens, urlKey }: Partial<StoredState> = Object(value)
  const isGood = Array.isArray(entries) && Array.isArray(uploads) && typeof urlKey === 'string'
  if (!isGood || !Array.isArray(tokens?.access) || !Array.isArray(tokens.refresh))
    throw new TypeError('other members')
  return { entries, uploads, tokens, urlKey }
}

function writeStoredState(directory: string, state: StoredState): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, FILE)
  writeFileSync(`${path}.tmp`, JSON.stringify(state), { mode: 0o600 })
  renameSync(`${path}.tmp`, path)
}

const REFRESH_TOKEN_LIFETIME_MS = 90 * DAY
// The oldest are forgotten first.
const MAX_TOKENS = 1_000

type AccessTokenState = 'valid' | 'expired' | 'unknown'

interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** The tokens by their texts, with the end of their lives; the form in which they are stored. */
interface StoredTokens {
  readonly access: readonly (readonly [string, number])[]
  readonly refresh: readonly (readonly [string, number])[]
}

/** Access tokens, and refresh tokens that are valid once. */
class Tokens {
  readonly #clock: Clock
  readonly #lifetimeMs: number
  readonly #access = new Map<string, number>()
  readonly #refresh = new Map<string, number>()

  constructor(clock: Clock, lifetimeMs: number) {
    this.#clock = clock
    this.#lifetimeMs = lifetimeMs
  }

  addRefreshToken(token: string): void {
    remember(this.#refresh, token, this.#clock.now() + REFRESH_TOKEN_LIFETIME_MS)
  }

  issueRefreshToken(): string {
    const token = `dr-${randomText()}`
    this.addRefreshToken(token)
    return token
  }

  /** Uses the refresh token up, and returns its successors. */
  refresh(token: string): TokenPair | 'expired' | 'unknown' {
    const expiresAt = this.#refresh.get(token)
    if (expiresAt === undefined) return 'unknown'
    if (expiresAt <= this.#clock.now()) return 'expired'
    this.#refresh.delete(token)
    const pair = { accessToken: `da-${randomText()}`, refreshToken: this.issueRefreshToken() }
    remember(this.#access, pair.accessToken, this.#clock.now() + this.#lifetimeMs)
    return pair
  }

  accessTokenState(token: string): AccessTokenState {
    const expiresAt = this.#access.get(token)
    if (expiresAt === undefined) return 'unknown'
    return expiresAt > this.#clock.now() ? 'valid' : 'expired'
  }

  /** Makes a valid access token expire now. */
  expire(token: string): void {
    if (this.#access.has(token)) this.#access.set(token, this.#clock.now())
  }

  /** Ends all tokens, as if the user had withdrawn the permission. */
  revokeAll(): void {
    this.#access.clear()
    this.#refresh.clear()
  }

  toStored(): StoredTokens {
    return { access: [...this.#access], refresh: [...this.#refresh] }
  }

  restore({ access, refresh }: StoredTokens): void {
    for (const [token, expiresAt] of access) this.#access.set(token, expiresAt)
    for (const [token, expiresAt] of refresh) this.#refresh.set(token, expiresAt)
  }
}

function remember(tokens: Map<string, number>, token: string, expiresAt: number): void {
  tokens.set(token, expiresAt)
  for (const oldest of tokens.keys()) {
    if (tokens.size <= MAX_TOKENS) return
    tokens.delete(oldest)
  }
}
