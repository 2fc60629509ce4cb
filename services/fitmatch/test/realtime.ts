import { RealtimeDetails } from '@tandem/contracts'
import type { PresenceAnswer } from '@tandem/contracts/realtime'
import { bearer } from '@tandem/http-kit/testing'
import type { Member, TestApp } from './app.ts'

type Details = {
  match: object,
  message: Record<string, unknown> | null,
  clientMessageId: string | null,
  chatUnreadCount: number
} | null

/** Reads what realtime connections show, as the notification service and the gateway do. */
export function realtimeOf ({ app, rpcHandlers, post, member, createMatch }: TestApp) {
  const fixture = {
    /** What a frame shows of a match, or of a message. */
    async describe (accountId: string, matchId: string, messageId: string | null = null) {
      const handler = rpcHandlers.find(({ rpc }) => rpc === RealtimeDetails)!
      const [details] = await handler.handle({ items: [{ accountId, matchId, messageId }] }) as Details[]
      return details ?? null
    },
    tokenOf: (accountId: string, options: Parameters<typeof bearer>[1] = {}) =>
      bearer(accountId, options).authorization.slice('Bearer '.length),
    async readPresence (items: { token: string, matchIds: string[] }[]) {
      const response = await app.inject({ method: 'POST', url: '/internal/realtime', payload: { items } })
      return response.json<{ items: PresenceAnswer[] }>().items
    },
    /** The presence of the other person of a match; undefined if it is hidden. */
    async presenceOf (accountId: string, matchId: string) {
      const [answer] = await fixture.readPresence([{ token: fixture.tokenOf(accountId), matchIds: [matchId] }])
      return answer && 'presence' in answer ? answer.presence[0] : undefined
    },
    /** Two people in a chat, in which Ben has sent a message. */
    async someChat () {
      const [ana, ben] = [await member('Ana'), await member('Ben')]
      const matchId = await createMatch(ana, ben)
      const { data } = await post(ben.id, `/fitmatch/chat/${matchId}/messages`, {
        content: 'secret',
        clientMessageId: 'c1'
      })
      return { ana, ben, matchId, messageId: data.message.id as string }
    }
  }
  return fixture
}

export interface Chat {
  ana: Member
  ben: Member
  matchId: string
  messageId: string
}
