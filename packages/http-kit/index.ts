export { requireRole } from './authentication.ts'
export { ACCESS_TOKEN, readBearer } from './tokens.ts'
export type { TokenFormat } from './tokens.ts'
export type { Account, AuthenticationOptions, VerifiedToken } from './authentication.ts'
export { clientSignal } from './client-signal.ts'
export { data, failure, message, sendError } from './envelope.ts'
export * from './errors.ts'
export { matchesEtag, NOT_MODIFIED, NotModified } from './etag.ts'
export { createHooks, HookDenied, HooksEnvironment, type Hooks, type Questions } from './hooks.ts'
export { createKeySet } from './keys.ts'
export type { FetchedKeySet, KeySet, PublicJwk, PublishedKeys } from './keys.ts'
export * from './schemas.ts'
export { signKeySet, createVerifiedKeyFetcher } from './signed-keys.ts'
export { completeDocument } from './openapi.ts'
export { listErrors } from './route-errors.ts'
export { createServer } from './server.ts'
export type { Routes, Server, ServerOptions } from './server.ts'
export { runInTraceOf, traceparentOf } from './request-tracing.ts'
export {
  languageOfLocale,
  languageOfRequest,
  LANGUAGES,
  preferredLanguage,
  readLocale,
  type Language
} from './language.ts'
export { createInvalidCursor, paginate, type Page } from './pagination.ts'
export { serializeByAccount } from './serialize-by-account.ts'
export { readIdempotencyKey } from './idempotency.ts'
export { describeErrors, explainUnstorable, findUnstorable } from './validation.ts'
export { toVisibleText } from './visible-text.ts'
export { createWebhookSecret, signWebhook } from './webhook-signature.ts'
