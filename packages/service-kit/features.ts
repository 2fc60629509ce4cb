import { isFeatureOn, type Feature } from '@tandem/brand-kit'
import type { Log } from '@tandem/process-kit'

/** Starts work in the background, and returns what stops it. */
export type BackgroundWork<Deps> = (deps: Deps, log: Log) => (() => unknown) | void

/** `start` while the feature is on; nothing otherwise. */
export const workOfFeature =
  <Deps>(feature: Feature, start: BackgroundWork<Deps>): BackgroundWork<Deps> => (deps, log) =>
    isFeatureOn(feature) ? start(deps, log) : undefined
