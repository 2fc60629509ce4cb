import type { Runner } from '../runners.ts'
import type { Call, HotPath } from './measure.ts'

const BARE_TEXT: Call = { method: 'GET', path: '/text' }
const BARE_PAGE: Call = { method: 'GET', path: '/page' }
const BARE_HASH: Call = { method: 'POST', path: '/hash' }

interface Surroundings {
  people: Runner[]
  /** Lifts the limit of messages, which no setting lifts. */
  resetMessageQuota: () => Promise<unknown>
}

/**
 * The paths that are measured, in this order: what the writes of a service compile serves its reads, too, and the gateway
 * is last, because it takes longest to warm up.
 */
export function defineHotPaths ({ people, resetMessageQuota }: Surroundings): Record<string, HotPath> {
  const at = (turn: number) => people[turn % people.length]!
  const bareRow: Call = { method: 'POST', path: '/row', body: { authorId: people[0]!.id, content: 'A run #running' } }
  const postIds = people.map(({ postId }) => postId)
  let posts: string[] | undefined

  return {
    'a page of matching profiles': {
      process: 'fitmatch',
      requests: 20,
      warmUp: 200,
      call: (turn) => ({ method: 'GET', path: '/fitmatch/discover', token: at(turn).token }),
      reference: BARE_PAGE
    },
    'a chat message': {
      process: 'fitmatch',
      requests: 20,
      warmUp: 400,
      beforeRound: resetMessageQuota,
      call (turn) {
        const { matchId, token } = at(turn)
        return { method: 'POST', path: `/fitmatch/chat/${matchId}/messages`, token, body: { content: `At ${turn}` } }
      },
      reference: bareRow
    },
    'a post': {
      process: 'social',
      requests: 20,
      warmUp: 200,
      call: (turn) => ({
        method: 'POST',
        path: '/feed',
        token: at(turn).token,
        body: { type: 'TEXT', content: `A run #running ${turn}` }
      }),
      onResponse: (body) => postIds.push((body as { data: { post: { id: string } } }).data.post.id),
      reference: bareRow
    },
    'a like': {
      process: 'social',
      requests: 30,
      warmUp: 250,
      call (turn) {
        posts ??= [...postIds]
        const liker = people[Math.floor(turn / posts.length)]!
        return { method: 'POST', path: `/feed/${posts[turn % posts.length]}/like`, token: liker.token }
      },
      reference: bareRow
    },
    'a comment': {
      process: 'social',
      requests: 20,
      warmUp: 200,
      call: (turn) => ({
        method: 'POST',
        path: `/feed/${at(turn + 1).postId}/comment`,
        token: at(turn).token,
        body: { content: `Well done ${turn}` }
      }),
      reference: bareRow
    },
    'a page of the feed': {
      process: 'social',
      requests: 40,
      warmUp: 300,
      call: (turn) => ({ method: 'GET', path: '/feed', token: at(turn).token }),
      reference: BARE_PAGE
    },
    'a page of notifications': {
      process: 'notification',
      requests: 40,
      warmUp: 300,
      call: (turn) => ({ method: 'GET', path: '/notifications', token: at(turn).token }),
      reference: BARE_PAGE
    },
    'a sign-in': {
      process: 'identity',
      requests: 6,
      warmUp: 16,
      call (turn) {
        const { email, password } = at(turn)
        return { method: 'POST', path: '/auth/login', body: { email, password, deviceName: 'Bench' } }
      },
      reference: BARE_HASH
    },
    'a forwarded read': {
      process: 'gateway',
      requests: 80,
      warmUp: 500,
      call: (turn) => ({ method: 'GET', path: '/auth/sessions', token: at(turn).token }),
      reference: { method: 'GET', path: '/forward', token: people[0]!.token }
    },
    "the gateway's own response": {
      process: 'gateway',
      requests: 150,
      warmUp: 1_500,
      call: () => ({ method: 'GET', path: '/meta' }),
      reference: BARE_TEXT
    }
  }
}
