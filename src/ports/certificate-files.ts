/** The directory with the files of the certificates, one for each fingerprint. Nothing to close. */
export interface CertificateFiles {
  /**
   * Writes the file of a certificate, whole or not at all: when the promise resolves it is on the disk. Replaces a file
   * that exists.
   */
  write(fingerprint: string, pem: string): Promise<void>
  /** The file of a certificate; undefined if there is none. Rejects if it cannot be read. */
  read(fingerprint: string): Promise<string | undefined>
  /** The names of all files, also of those that an interrupted `write` has left. No directories, no hidden files. */
  list(): Promise<readonly string[]>
  /** Removes a file by its name, one of `list`; a missing file is removed already. */
  remove(name: string): Promise<void>
  /** The name of the file of a certificate. */
  nameOf(fingerprint: string): string
}
