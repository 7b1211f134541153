/** The part of a writable stream that the program uses. */
export interface Output {
  write(text: string): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** A reader of the output that closes it must not end the round. */
export function ignoreWriteErrors(output: Output): void {
  output.on('error', () => {})
}
