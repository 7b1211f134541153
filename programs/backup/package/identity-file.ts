import { readPrivateFile } from '../../files/private-file.ts'

/** The identities of an age identity file, which must be private. Throws an error without anything of the file. */
export function readIdentities(path: string): string[] {
  const lines = readPrivateFile(path).split(/\r?\n/)
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  if (identities.length === 0 || !identities.every((each) => /^AGE-SECRET-KEY-[A-Z0-9-]+$/.test(each)))
    throw new Error(`${path}: expected lines that begin with AGE-SECRET-KEY-, and comments`)
  return identities
}
