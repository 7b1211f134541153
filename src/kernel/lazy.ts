/** A value that its first use makes: most platforms never need some of those that a start would make. */
export function lazy<T extends object>(make: () => T): () => T {
  let value: T | undefined
  return () => (value ??= make())
}
