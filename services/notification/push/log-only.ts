import type { Log } from '@tandem/service-kit'
import type { Provider } from './provider.ts'

/** Sends nothing: without an account at the provider a developer still sees in the log, and in GET /notifications/push/log, what would be sent. */
export function logOnly (log: Log): Provider {
  return {
    async send ({ platform, collapseId, title, body, data }) {
      log.info({ platform, collapseId, title, body, data }, 'a push, to be seen here only')
      return { is: 'sent', note: 'log only' }
    },
    async close () {}
  }
}
