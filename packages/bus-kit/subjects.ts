// The names on NATS. The rights of a service are built from them (rights.ts).

/** One stream per publishing service, so that each team deploys, sizes and wipes its own. */
export const streamOf = (service: string) => `EVENTS_${service.toUpperCase()}`

export const subjectOf = (type: string) => `evt.${type}`

/**
 * The prefix of a service's reply subjects. Each service has its own, so that its rights can exclude those of others.
 */
export const inboxOf = (service: string) => `_INBOX_${service}`

/**
 * The prefix for replies of `provider` to `caller`. Only the provider has the right to publish here, so no service can
 * forge the reply of another.
 */
export const replyPrefixOf = (caller: string, provider: string) => `${inboxOf(caller)}.${provider}`

/** Ends with the caller's name. NATS allows no other service to publish there, so the provider knows who called. */
export const rpcSubjectOf = (type: string, caller: string) => `ask.${type}.${caller}`

/** Realtime signals of a service to the gateways. Ends with the publisher's name, as only it can publish there. */
export const realtimeSubjectOf = (service: string) => `realtime.${service}`
