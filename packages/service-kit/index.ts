export { maskAddress, networkOf } from './addresses.ts'
export { ACCESS_TOKEN, authentication, requireRole } from './authentication.ts'
export type { Account, AuthenticationOptions } from './authentication.ts'
export { ConfigError, List, readConfig, ServiceEnvironment, Url } from './config.ts'
export { data, failure, message, sendError } from './envelope.ts'
export * from './errors.ts'
export type { HealthCheck, HealthChecks } from './health.ts'
export { createKeySet } from './keys.ts'
export type { KeySet, PublicJwk } from './keys.ts'
export { createLogger } from './logging.ts'
export type { Log } from './logging.ts'
export { registry, serveMetrics } from './metrics.ts'
export { run } from './run.ts'
export * from './schemas.ts'
export { parseRootKey, RootKeys, signKeySet, createVerifiedKeyFetcher } from './signed-keys.ts'
export { createServer } from './server.ts'
export type { Routes, Server, ServerOptions } from './server.ts'
export { extractTraceContext, runInTraceOf, traceId } from './tracing.ts'
export { languageOfLocale, languageOfRequest, LANGUAGES, preferredLanguage, type Language } from './language.ts'
export { paginate, type Page } from './pagination.ts'
export { runPeriodically } from './periodic.ts'
export { serializeByAccount } from './serialize-by-account.ts'
export { readIdempotencyKey } from './idempotency.ts'
export { createBatcher } from './batcher.ts'
export { createLookup } from './lookup.ts'
export { findUnstorable } from './validation.ts'
export { validateName, findNameError } from './names.ts'
export { generateName, generateUsername } from './generated-names.ts'
export {
  createUrlSigner,
  isMediaKey,
  isPrivateMediaKey,
  MediaSigningKey,
  SIGNATURE_TTL_SECONDS,
  windowStartSeconds,
  type UrlSigner
} from './media-urls.ts'
