import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import type { NotificationRequest } from './plan.ts'

/**
 * An event and the notifications it requests. `id` is the event id, for dedupe keys of events without a natural one.
 */
export interface RegistryEntry {
  event: EventDefinition
  requests: (data: never, id: string) => NotificationRequest[]
}

export function onEvent<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>,
  requests: (data: NoInfer<Type.Static<Schema>>, id: string) => NotificationRequest[]
): RegistryEntry {
  return { event, requests }
}
