import type { Readable } from 'node:stream'
import { isPrivateMediaKey } from '@tandem/media-url-kit'

/** A file store. Keys are relative paths that we create; no part of them comes from a client. */
export interface Storage {
  /** Atomic: readers see the whole file or none of it. @throws Unavailable */
  put(key: string, bytes: Buffer, mimeType: string): Promise<void>
  /** Undefined if there is no such file. @throws Unavailable */
  find(key: string): Promise<Buffer | undefined>
  /** Writes a file of any length with constant memory, and is as atomic as `put`. @throws Unavailable */
  putStream(key: string, chunks: AsyncIterable<Buffer>, mimeType: string): Promise<void>
  /** Stores a copy of a file of this machine, and is as atomic as `put`. @throws Unavailable */
  putFile(key: string, file: string, mimeType: string): Promise<void>
  /**
   * Reads a file of any length with constant memory. Undefined if there is no such file. Read it to its end, or destroy
   * it: it is open. @throws Unavailable
   */
  read(key: string, range?: ByteRange): Promise<Readable | undefined>
  /** The length of a file in bytes; undefined if there is no such file. @throws Unavailable */
  size(key: string): Promise<number | undefined>
  /** Does nothing if there is no such file. */
  remove(key: string): Promise<void>
  /** The keys of all files in a folder: `prefix` ends with a slash. @throws Unavailable */
  list(prefix: string): Promise<string[]>
  /** Deletes a folder with all its files: `prefix` ends with a slash. */
  removeFolder(prefix: string): Promise<void>
  /**
   * The store's own URL of a private file, valid for 30 to 60 minutes. Stores that clients cannot reach do not have
   * this function.
   */
  presign?: (key: string) => string
}

/** Both are offsets of bytes that are read. */
export interface ByteRange {
  start: number
  end: number
}

/** Stores private files in one store and all others in another. */
export function splitStorage (publicStorage: Storage, privateStorage: Storage): Storage {
  const storeOf = (key: string) => isPrivateMediaKey(key) ? privateStorage : publicStorage
  return {
    put: async (key, bytes, mimeType) => await storeOf(key).put(key, bytes, mimeType),
    find: async (key) => await storeOf(key).find(key),
    putStream: async (key, chunks, mimeType) => await storeOf(key).putStream(key, chunks, mimeType),
    putFile: async (key, file, mimeType) => await storeOf(key).putFile(key, file, mimeType),
    read: async (key, range) => await storeOf(key).read(key, range),
    size: async (key) => await storeOf(key).size(key),
    remove: async (key) => await storeOf(key).remove(key),
    list: async (prefix) => await storeOf(prefix).list(prefix),
    removeFolder: async (prefix) => await storeOf(prefix).removeFolder(prefix),
    ...(privateStorage.presign && { presign: privateStorage.presign })
  }
}
