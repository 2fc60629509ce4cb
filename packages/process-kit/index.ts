export { createBatcher } from './batcher.ts'
export { buildInfo } from './build-info.ts'
export { chunksOf } from './chunks-of.ts'
export { ConfigError, List, readConfig, ProcessEnvironment, Url, Urls } from './config.ts'
export { continueCorrelation, currentCorrelation } from './correlation.ts'
export type { Correlation } from './correlation.ts'
export { createDiskLimit, isDiskError } from './disk.ts'
export { defineError, isDefinedError, Unavailable } from './errors.ts'
export type { DefinedError, Described, ErrorParams } from './errors.ts'
export { createFairQueue } from './fair-queue.ts'
export { createHealthProbe, Degraded } from './health.ts'
export type { HealthChecks } from './health.ts'
export { bindLog, createLogger, LOG_LEVELS, withLogFields } from './logging.ts'
export type { KitLog, Log } from './logging.ts'
export { createLookup } from './lookup.ts'
export { registry, serveMetrics } from './metrics.ts'
export { runPeriodically } from './periodic.ts'
export { parseRootKey, RootKeys } from './root-keys.ts'
export { run } from './run.ts'
export { serializeByKey } from './serialize-by-key.ts'
export { setBounded } from './set-bounded.ts'
export { failedItems, runSteps, settleBatches, settleEach, throwErrors } from './settle-each.ts'
export { throttleLog } from './throttle-log.ts'
export { isTransient, untilAvailable } from './transient.ts'
export { untilPersisted } from './until-persisted.ts'
export { readVariable } from './variables.ts'
export {
  extractTraceContext,
  isRecordingSpans,
  newTraceContext,
  propagateTraces,
  spanIdOf,
  traceId
} from './tracing.ts'
export { createAlarm } from './alarm.ts'
export { runWhenDue } from './when-due.ts'
export { withTimeout } from './with-timeout.ts'
