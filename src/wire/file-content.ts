import type { AppError } from '../kernel/errors.ts'

interface ServedFile {
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
  readonly file: ServedFile

  constructor(file: ServedFile) {
    this.file = file
  }

  /** The entity tag in quotes, as in `ETag`. */
  get entityTag(): string {
    return `"${this.file.tag}"`
  }
}
