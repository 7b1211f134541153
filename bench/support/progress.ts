import type { WriteStream } from 'node:tty'

/** One line on a terminal that is written over and over; nothing where there is no terminal. */
export function createProgress(stream: WriteStream): { show(text: string): void; clear(): void } {
  const write = (text: string) => {
    if (stream.isTTY) stream.write(`\r\u001b[K${text.slice(0, (stream.columns || 80) - 1)}`)
  }
  return { show: write, clear: () => write('') }
}
