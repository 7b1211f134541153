import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { AppError } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import type { CommandContext } from './context.ts'

/** Reads a secret from a prompt without echo, or from the first line of standard input; never from an argument. */
export async function readSecret({ stdin, stderr }: CommandContext, prompt: string): Promise<Secret> {
  const terminal = stdin.isTTY === true
  if (terminal) stderr.write(`${prompt}: `)
  const lines = createInterface({ input: stdin, output: terminal ? discard() : undefined, terminal })
  try {
    for await (const line of lines) {
      if (terminal) stderr.write('\n')
      return new Secret(line)
    }
  } finally {
    lines.close()
  }
  throw new AppError('invalid', 'validation_failed', `${prompt}: standard input is empty.`)
}

function discard(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
