import { isRecord, jsonValueOf } from '../../../src/kernel/text.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { parseRfc3339, toRfc3339 } from '../../../src/kernel/time.ts'
import { requireReplaceable } from '../../files/replace-file.ts'
import { AUTHORISE_ANEW, BackupError } from '../errors.ts'
import { readPrivateFile, replacePrivateFile } from '../../files/private-file.ts'

/** The content of the token file (docs/specification.md, Nightly backup). */
export interface DriveTokens {
  readonly accessToken: Secret
  /** Valid once. */
  readonly refreshToken: Secret
  /** When the access token was issued, in milliseconds; 0 when the file does not say it. */
  readonly updatedAt: number
  readonly expiresInMs: number
  readonly driveId: string
  /** The folder of the drive in which backups are, such as `servers/main`. */
  readonly rootDir: string
}

/** What a refresh returns. */
export type RenewedTokens = Pick<DriveTokens, 'accessToken' | 'refreshToken' | 'expiresInMs'>

/** The file that keeps the tokens. It is read anew each time, since another process may have renewed them. */
export class TokenFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Throws `token_unreadable` for a missing, public or malformed file. */
  read(): DriveTokens {
    const members = this.#members()
    const text = (name: string): string => {
      const value = members[name]
      if (typeof value === 'string' && value !== '') return value
      throw this.#unreadableError(`"${name}" must be a text that is not empty`)
    }
    const expiresIn = members['expires_in']
    if (typeof expiresIn !== 'number' || !(expiresIn > 0))
      throw this.#unreadableError('"expires_in" must be a number of seconds')
    return {
      accessToken: new Secret(text('access_token')),
      refreshToken: new Secret(text('refresh_token')),
      updatedAt: parseRfc3339(text('updated_at')) ?? 0,
      expiresInMs: expiresIn * 1_000,
      driveId: text('drive_id'),
      rootDir: text('root_dir'),
    }
  }

  /** Stores renewed tokens durably, and keeps everything else of the file, with its owner, group and mode. */
  write({ accessToken, refreshToken, expiresInMs }: RenewedTokens, now: number): void {
    try {
      const members = {
        ...this.#members(),
        access_token: accessToken.reveal(),
        refresh_token: refreshToken.reveal(),
        expires_in: expiresInMs / 1_000,
        updated_at: toRfc3339(now),
      }
      replacePrivateFile(this.#path, `${JSON.stringify(members, null, 2)}\n`)
    } catch (error) {
      throw new BackupError(
        'token_refresh_failed',
        // The cause is left out: the code of a full disk would suggest that more space brings the tokens back.
        `${this.#path}: the renewed tokens could not be stored (${errorMessage(error)}); ${AUTHORISE_ANEW}`,
      )
    }
  }

  /** Throws when renewed tokens could not be stored: then they must not be renewed. */
  requireWritable(): void {
    try {
      requireReplaceable(this.#path)
    } catch (error) {
      throw new BackupError(
        'token_refresh_failed',
        `${this.#path}: renewed tokens could not be stored (${errorMessage(error)}), so they were not renewed`,
        { cause: error },
      )
    }
  }

  #members(): Readonly<Record<string, unknown>> {
    let text: string
    try {
      text = readPrivateFile(this.#path)
    } catch (error) {
      throw this.#unreadableError(errorMessage(error))
    }
    const value = jsonValueOf(text)
    if (!isRecord(value)) throw this.#unreadableError('it must be a JSON object')
    return value
  }

  /** The error has no cause: an error of the JSON parser quotes the text. */
  #unreadableError(reason: string): BackupError {
    return new BackupError('token_unreadable', `${this.#path}: ${reason}`)
  }
}
