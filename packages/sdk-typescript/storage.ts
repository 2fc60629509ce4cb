/** A value that outlives a start of the app: in memory, localStorage, AsyncStorage, the keychain of a phone. */
export interface Stored<Value> {
  read(): Value | undefined | Promise<Value | undefined>
  /** @param value undefined removes it */
  write(value: Value | undefined): void | Promise<void>
}

/** For tests and scripts: it ends with the program. */
export function memoryStorage<Value> (value?: Value): Stored<Value> {
  return {
    read: () => value,
    write: (changed) => {
      value = changed
    }
  }
}

interface KeyValueStore {
  getItem(key: string): string | null | Promise<string | null>
  setItem(key: string, value: string): void | Promise<void>
  removeItem(key: string): void | Promise<void>
}

/**
 * For `localStorage` of browsers and AsyncStorage of React Native. Every script of a page can read it, so the page must
 * not run foreign ones.
 */
export function storageIn<Value> (store: KeyValueStore, key = 'tandem'): Stored<Value> {
  return {
    read: async () => parse<Value>(await store.getItem(key)),
    write: async (value) =>
      value === undefined ? await store.removeItem(key) : await store.setItem(key, JSON.stringify(value))
  }
}

interface SecureStore {
  getItemAsync(key: string): Promise<string | null>
  setItemAsync(key: string, value: string): Promise<void>
  deleteItemAsync(key: string): Promise<void>
}

/** For the keychain of a phone: `secureStorageIn(SecureStore)` with expo-secure-store. It holds 2 KB. */
export const secureStorageIn = <Value>(store: SecureStore, key = 'tandem'): Stored<Value> =>
  storageIn({
    getItem: async (key) => await store.getItemAsync(key),
    setItem: async (key, value) => await store.setItemAsync(key, value),
    removeItem: async (key) => await store.deleteItemAsync(key)
  }, key)

const parse = <Value>(text: string | null) => text === null ? undefined : JSON.parse(text) as Value
