import { isFeatureOn, type Feature } from '@tandem/brand-kit'
import type { FastifyRequest } from 'fastify'
import { ValidationError } from './errors.ts'
import type { Routes } from './server.ts'

/** `routes` while the feature is on. Otherwise there are none: they are not found, and not in the API document. */
export const ofFeature =
  <Deps extends object>(feature: Feature, routes: Routes<Deps>): Routes<Deps> => async (app, deps) => {
    if (isFeatureOn(feature)) await app.register(routes, deps)
  }

/** The part of a schema or an example that belongs to a feature: empty while it is off. Call it when routes are added. */
export const partOfFeature = <Part extends object>(feature: Feature, part: Part): Part =>
  // The fields of requests are optional, and of responses only those of the schema are sent.
  isFeatureOn(feature) ? part : {} as Part

/** Those of `values` that belong to no feature that is off. Call it when routes are added. */
export const offered = <Value extends string>(
  values: readonly Value[],
  features: { [Name in Value]?: Feature }
): Value[] => values.filter((value) => isFeatureOn(features[value]))

/** The preValidation that refuses fields of features that are off; they would be ignored. @throws ValidationError */
export const refuseFields =
  (fieldsByFeature: { [Name in Feature]?: readonly string[] }) => async ({ body }: FastifyRequest) => {
    if (typeof body !== 'object' || body === null) return
    const off = Object.entries(fieldsByFeature).filter(([feature]) => !isFeatureOn(feature as Feature))
    const found = off.flatMap(([, fields]) => fields).filter((field) => Object.hasOwn(body, field))
    if (found[0] !== undefined) throw new ValidationError('featureIsOff', found, { field: found[0] })
  }
