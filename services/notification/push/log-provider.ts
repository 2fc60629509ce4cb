import type { Log } from '@tandem/process-kit'
import type { Provider } from './provider.ts'

/**
 * Sends nothing. Without a provider account, developers see in the log which pushes would be sent, and in
 * GET /notifications/push/log also their texts, which contain names.
 */
export function createLogProvider (log: Log): Provider {
  return {
    async send ({ platform, collapseId, data }) {
      log.info({ platform, collapseId, data }, 'push logged, not sent')
      return { type: 'sent', note: 'log only' }
    },
    async close () {}
  }
}
