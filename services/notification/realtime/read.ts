import { textsOf } from '@tandem/brand-kit'
import { RealtimeDetails } from '@tandem/contracts'
import type { FeedPage, Frame } from '@tandem/contracts/realtime'
import { chunksOf } from '@tandem/process-kit'
import type { Static } from 'typebox'
import type { Deps } from '../deps.ts'
import { readNotifications, type RenderedNotification } from '../inbox/queries.ts'
import { messageKey } from '../notifications/registry.ts'
import { about } from '../notifications/subjects.ts'
import { canResume, PAGE_SIZE, parsePosition, positionOf, readFeedLogs, type Feed, type LoggedFrame } from './feeds.ts'

const DETAILS_TIMEOUT_MS = 300
const MAX_DETAILS_PER_CALL = 100
const MAX_PAGE_BYTES = 64 * 1024

interface FeedQuery {
  accountId: string
  language: string | undefined
  after: string | undefined
}

type Details = Static<typeof RealtimeDetails.response>[number]

/** What frames show besides their ids. An entry of `details` is undefined if fitmatch did not respond. */
interface Contents {
  notifications: Map<string, RenderedNotification>
  details: Map<string, Details | undefined>
}

/**
 * Reads the frames after a position for each query. What they show is read now, by the rules of the REST API: a frame
 * about something that is gone, or that the account cannot see any more, is left out.
 */
export async function readFeeds (deps: Deps, queries: FeedQuery[]): Promise<FeedPage[]> {
  const requested = queries.map((query) => ({ ...query, position: parsePosition(query.after) }))
  const logs = await readFeedLogs(deps.db, requested)
  const pages = requested.map(({ language, position }, number) => {
    const { feed, frames } = logs[number]!
    const resumed = canResume(feed, position)
    return {
      feed,
      resumed,
      language: language ?? textsOf(feed.locale).locale,
      logged: resumed ? frames.slice(0, PAGE_SIZE) : [],
      hasMore: resumed && frames.length > PAGE_SIZE
    }
  })

  const [details, notifications] = await Promise.all([
    readDetails(deps, pages.flatMap(({ logged }) => logged)),
    readNotifications(
      deps,
      pages.map(({ feed: { accountId, timezone }, language, logged }) => ({
        accountId,
        dedupeKeys: logged.flatMap(dedupeKeyOf),
        language,
        timezone
      }))
    )
  ])
  return pages.map(({ feed, resumed, logged, hasMore }, number) =>
    buildPage(feed, logged, { notifications: notifications[number]!, details }, { resumed, hasMore })
  )
}

function buildPage (
  feed: Feed,
  logged: LoggedFrame[],
  contents: Contents,
  { resumed, hasMore }: { resumed: boolean, hasMore: boolean }
): FeedPage {
  const frames: Frame[] = []
  let bytes = 0
  for (const each of logged) {
    const data = dataOf(each, feed, contents)
    const frame = data && {
      type: each.type,
      id: positionOf(feed.epoch, each.seq),
      at: each.at.toISOString(),
      data
    }
    if (!frame) continue
    bytes += Buffer.byteLength(JSON.stringify(frame))
    if (bytes > MAX_PAGE_BYTES && frames.length > 0) {
      const { id = '' } = frames.at(-1) ?? {}
      return { frames, position: id, resumed, more: true, unreadCount: feed.unreadCount }
    }
    frames.push(frame)
  }
  const last = hasMore ? logged.at(-1)?.seq ?? feed.head : feed.head
  return {
    frames,
    position: positionOf(feed.epoch, last),
    resumed,
    more: hasMore,
    unreadCount: feed.unreadCount
  }
}

/** The data of a frame; undefined if the account cannot see what it reports. */
function dataOf ({ accountId, type, ids, at }: LoggedFrame, feed: Feed, { notifications, details }: Contents) {
  const { unreadCount } = feed
  const { matchId, messageId } = ids as { matchId?: string, messageId?: string }
  const found = details.get(detailsKey(accountId, matchId, messageId))
  switch (type) {
    case 'notification.created': {
      const notification = notifications.get(String(ids['dedupeKey']))
      return notification && { notification, unreadCount }
    }
    case 'notifications.changed':
      return { readIds: ids['readIds'], removedIds: ids['removedIds'], unreadCount }
    case 'account.changed':
      return { parts: ids['parts'] }
    case 'match.ended':
      return { matchId }
    case 'match.created':
      if (found === null) return
      return {
        matchId,
        match: found?.match ?? null,
        notification: notifications.get(about.match(matchId!)) ?? null,
        unreadCount
      }
    case 'message.created':
      if (found === null) return
      return {
        matchId,
        message: found?.message ?? null,
        clientMessageId: found?.clientMessageId ?? null,
        chatUnreadCount: found?.chatUnreadCount ?? null,
        notification: notifications.get(messageKey(messageId!)) ?? null,
        unreadCount
      }
    case 'messages.read': {
      if (found === null) return
      const isMine = ids['readerId'] === accountId
      return {
        matchId,
        messageIds: ids['messageIds'],
        isMine,
        readAt: at.toISOString(),
        chatUnreadCount: isMine ? found?.chatUnreadCount ?? null : null,
        unreadCount: isMine ? unreadCount : null
      }
    }
  }
}

function dedupeKeyOf ({ type, ids }: LoggedFrame): string[] {
  switch (type) {
    case 'notification.created':
      return [String(ids['dedupeKey'])]
    case 'message.created':
      return [messageKey(String(ids['messageId']))]
    case 'match.created':
      return [about.match(String(ids['matchId']))]
    default:
      return []
  }
}

const detailsKey = (accountId: string, matchId = '', messageId = '') => `${accountId} ${matchId} ${messageId}`

/** Asks fitmatch what the accounts can see of their matches and messages. */
async function readDetails ({ callRpc, log }: Deps, frames: LoggedFrame[]): Promise<Contents['details']> {
  const types = ['message.created', 'messages.read', 'match.created']
  const items = new Map(
    frames.filter(({ type }) => types.includes(type)).map(({ accountId, ids }) => {
      const { matchId, messageId } = ids as { matchId: string, messageId?: string }
      return [detailsKey(accountId, matchId, messageId), { accountId, matchId, messageId: messageId ?? null }]
    })
  )
  const chunks = chunksOf([...items.keys()], MAX_DETAILS_PER_CALL)
  const found = await Promise.all(chunks.map(async (chunk) => {
    const request = { items: chunk.map((key) => items.get(key)!) }
    const details = await callRpc(RealtimeDetails, request, { timeoutMs: DETAILS_TIMEOUT_MS }).catch(
      (error: unknown) => {
        log.warn({ err: error }, 'fitmatch does not describe matches and messages: their frames have no texts')
        return []
      }
    )
    return chunk.map((key, number) => [key, details[number]] as const)
  }))
  return new Map(found.flat())
}
