/** Adds an entry as the newest; at the limit the oldest one goes, so that no caller can fill the memory. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  map.delete(key)
  if (map.size >= limit) map.delete(map.keys().next().value as K)
  map.set(key, value)
}
