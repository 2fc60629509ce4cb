import { handleRpc } from '@tandem/bus-kit'
import { RealtimeDetails } from '@tandem/contracts'
import { showImage } from '../chat/images.ts'
import type { Deps } from '../deps.ts'
import { withPhotos } from '../photos/describe.ts'
import { listDetails } from './queries.ts'

export const handleRealtimeDetails = ({ db, media }: Deps) =>
  handleRpc(RealtimeDetails, async ({ items }) => {
    const found = new Map((await listDetails(db, items)).map((row) => [row.number, row]))
    return items.map((_, number) => {
      const row = found.get(number)
      if (!row) return null
      const { matchId, matchType, profileId: id, displayName, age, photos } = row
      const { imageUrl, width, height, blurhash, isMine } = row
      return {
        match: {
          matchId,
          matchType,
          matchedAt: row.matchedAt.toISOString(),
          profile: withPhotos(media, { id, displayName, age, photos })
        },
        message: row.messageId === null
          ? null
          : {
            id: row.messageId,
            matchId,
            senderId: row.senderId,
            isMine,
            content: row.content,
            ...showImage(media, { imageUrl, width, height, blurhash }),
            createdAt: row.sentAt.toISOString(),
            readAt: row.readAt?.toISOString() ?? null
          },
        clientMessageId: isMine ? row.clientId : null,
        chatUnreadCount: row.unread
      }
    })
  })
