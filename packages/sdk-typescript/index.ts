export { createTandem, type Tandem, type TandemOptions } from './client.ts'
export { TandemError } from './errors.ts'
export { apiVersion } from './generated/operations.gen.ts'
export type * from './generated/types.gen.ts'
export type { Outbox, OutboxEntry, OutboxOptions, QueuedOperation, QueuedOptions } from './outbox.ts'
export { paginate } from './pagination.ts'
export type {
  ChatFrame,
  Realtime,
  RealtimeOptions,
  ServerFrame,
  ServerFrameType,
  WebSocketLike
} from './realtime-types.ts'
export type { RetryOptions } from './retries.ts'
export type { Tokens } from './session.ts'
export { memoryStorage, secureStorageIn, storageIn, type Stored } from './storage.ts'
export type { Changes } from './sync.ts'
export { uploadOf, uploadVideo, type NativeFile, type VideoUploadOptions } from './uploads.ts'
