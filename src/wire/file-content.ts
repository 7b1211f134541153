import type { AppError } from '../kernel/errors.ts'

export interface FileContentOptions {
  readonly path: string
  /** The suggested name of the download. */
  readonly name: string
  readonly sizeBytes: number
  /** A strong entity tag, without its quotes. */
  readonly tag: string
  /** The error of the answer when the file was deleted before it could be opened. */
  readonly missing: () => AppError
}

/**
 * The body of an answer that is a file which does not change. The server sends it in parts if the client asks for them (RFC
 * 9110, section 14), and answers the conditions of the request.
 */
export class FileContent {
  readonly path: string
  readonly name: string
  readonly sizeBytes: number
  /** The entity tag in quotes, as in `ETag`. */
  readonly entityTag: string
  readonly missing: () => AppError

  constructor({ path, name, sizeBytes, tag, missing }: FileContentOptions) {
    this.path = path
    this.name = name
    this.sizeBytes = sizeBytes
    this.entityTag = `"${tag}"`
    this.missing = missing
  }
}
