import { producerEventTypes } from '@tandem/contracts'
import { Counter } from 'prom-client'

export const producerEventsTotal = new Counter({
  name: 'notification_producer_events_total',
  help: 'Events of producers by type and by what became of them; dropped: the account does not exist',
  labelNames: ['type', 'outcome'] as const
})
for (const type of producerEventTypes) {
  for (const outcome of ['accepted', 'repeated', 'dropped', 'handled']) {
    producerEventsTotal.inc({ type, outcome }, 0)
  }
}

// The type of a rejected event is whatever its producer wrote.
export const rejectedEventsTotal = new Counter({
  name: 'notification_producer_events_rejected_total',
  help: 'Events of producers that were rejected'
})
rejectedEventsTotal.inc(0)
