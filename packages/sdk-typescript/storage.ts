import { TandemError } from './errors.ts'

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

/** What is not JSON, such as a value that another version of the app or a damaged disk left, is as nothing. */
function parse<Value> (text: string | null) {
  try {
    return text === null ? undefined : JSON.parse(text) as Value
  } catch {
    return undefined
  }
}

/** Names the errors of a storage. In the middle of a request, they would look like those of the network. */
export function checked<Value> (storage: Stored<Value>): Stored<Value> {
  const check = async <Result>(work: () => Result | Promise<Result>) => {
    try {
      return await work()
    } catch (cause) {
      const message = 'This device could not read or save data. Make sure that it has free space, and try again.'
      throw new TandemError(message, { code: 'STORAGE_ERROR', cause })
    }
  }
  return {
    read: async () => await check(() => storage.read()),
    write: async (value) => await check(() => storage.write(value))
  }
}
