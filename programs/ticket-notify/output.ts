/** Where text goes: a stream of the process, as far as it is used here. */
export interface Output {
  write(text: string): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** Whoever reads the output may go away: what is under way is more than what is written about it. */
export function outliveReader(output: Output): void {
  output.on('error', () => {})
}
