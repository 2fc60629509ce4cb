// The names on NATS that a service's rights are made of (rights.ts).

/** One stream for each service that publishes, so that a team deploys, sizes and wipes its own. */
export const streamOf = (service: string) => `EVENTS_${service.toUpperCase()}`

export const subjectOf = (type: string) => `evt.${type}`

/** Where a service gets its answers. A prefix of its own, so that it can be granted these and nobody else's. */
export const inboxOf = (service: string) => `_INBOX_${service}`

/**
 * Where `caller` gets the answers of `provider`. The provider may publish here, and no other service may: what one service is asked
 * by another helps it to forge nobody's answer but its own.
 */
export const replyPrefixOf = (caller: string, provider: string) => `${inboxOf(caller)}.${provider}`

/** Ends with the caller, which NATS lets nobody else write: so the one who answers knows where its answer belongs. */
export const rpcSubjectOf = (type: string, caller: string) => `ask.${type}.${caller}`
