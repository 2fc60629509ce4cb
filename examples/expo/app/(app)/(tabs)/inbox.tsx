import { useNotifications } from '@tandem/react'
import type { Notification } from '@tandem/sdk'
import { useRouter, type Href } from 'expo-router'
import { Pressable, View } from 'react-native'
import { Button } from '../../../components/controls.tsx'
import { timeAgo } from '../../../components/format.ts'
import { Avatar, Card, Icon, Row, Screen, Text, type IconName } from '../../../components/layout.tsx'
import { Empty, Loading, More } from '../../../components/states.tsx'

const icons: Record<Notification['type'], IconName> = {
  ACCOUNT: 'lock-closed-outline',
  ADMIN: 'megaphone-outline',
  BOOKING: 'calendar-outline',
  CHAT: 'chatbubble-outline',
  FASTING: 'timer-outline',
  FITMATCH: 'flash-outline',
  GAMIFICATION: 'trophy-outline',
  SOCIAL_FEED: 'heart-outline',
  SPORT_BUDDY: 'people-outline',
  STORY_REACTION: 'sparkles-outline'
}

export default function Inbox () {
  const router = useRouter()
  const { notifications, unreadCount = 0, query, read, readAll } = useNotifications()
  const action = unreadCount > 0 && <Button title='Mark all as read' onPress={readAll} />
  return (
    <Screen title='Inbox' action={action}>
      {!notifications && <Loading of={query} />}
      {notifications?.length === 0 && (
        <Empty icon='notifications-outline' title='All quiet'>Likes, comments and matches are shown here.</Empty>
      )}
      {notifications?.map((each) => (
        <Pressable
          key={each.id}
          role='link'
          onPress={() => {
            // If it cannot be stored, it stays unread.
            if (each.readAt === null) read(each.id).catch(() => {})
            router.push(hrefOf(each))
          }}
        >
          <Item notification={each} />
        </Pressable>
      ))}
      <More of={query} />
    </Screen>
  )
}

function Item ({ notification: { type, actor, title, body, createdAt, readAt } }: { notification: Notification }) {
  return (
    <Card>
      <Row>
        {actor
          ? <Avatar name={actor.name} image={actor.image} />
          : (
            <View style={{ width: 44, alignItems: 'center' }}>
              <Icon name={icons[type]} size={26} />
            </View>
          )}
        <View style={{ flex: 1 }}>
          <Text bold={readAt === null}>{title}</Text>
          <Text tone='soft' size={15}>{body}</Text>
        </View>
        <Text tone='soft' size={13}>{timeAgo(createdAt)}</Text>
      </Row>
    </Card>
  )
}

/** What it is about. The ids of `data` say it; without one, the page of its kind. */
function hrefOf ({ type, data }: Notification): Href {
  if (data['matchId'] !== undefined) return { pathname: '/chat/[id]', params: { id: data['matchId'] } }
  if (data['postId'] !== undefined) return { pathname: '/post/[id]', params: { id: data['postId'] } }
  if (data['userId'] !== undefined) return { pathname: '/person/[id]', params: { id: data['userId'] } }
  if (data['reportId'] !== undefined) return '/safety'
  if (data['activityId'] !== undefined || type === 'BOOKING') return '/plans'
  if (type === 'CHAT') return '/chats'
  if (type === 'FITMATCH') return '/discover'
  if (type === 'GAMIFICATION') return '/achievements'
  if (type === 'SOCIAL_FEED' || type === 'STORY_REACTION') return '/feed'
  if (type === 'ACCOUNT') return '/settings'
  return '/'
}
