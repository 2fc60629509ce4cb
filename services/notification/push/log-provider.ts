import type { Log } from '@tandem/process-kit'
import type { Provider } from './provider.ts'

/**
 * Sends nothing. Without a provider account, developers see in the log and in GET /notifications/push/log what would be
 * sent.
 */
export function createLogProvider (log: Log): Provider {
  return {
    async send ({ platform, collapseId, title, body, data }) {
      log.info({ platform, collapseId, title, body, data }, 'push logged, not sent')
      return { type: 'sent', note: 'log only' }
    },
    async close () {}
  }
}
