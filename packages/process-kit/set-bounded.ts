/** Sets an entry, which is then the newest of `map`. If there are more than `maxEntries`, the oldest is deleted. */
export function setBounded<Key, Value> (map: Map<Key, Value>, key: Key, value: Value, maxEntries: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maxEntries) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
