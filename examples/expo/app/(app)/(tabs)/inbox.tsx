import { useNotifications } from '@tandem/react'
import { View } from 'react-native'
import { Avatar, Button, Card, Empty, Loading, Row, Screen, Text, timeAgo } from '../../../components/ui.tsx'

export default function Inbox () {
  const { notifications, unreadCount = 0, query, readAll } = useNotifications()
  const action = unreadCount > 0 && <Button title='Mark all as read' onPress={readAll} />
  return (
    <Screen title='Inbox' action={action}>
      {!notifications && <Loading of={query} />}
      {notifications?.length === 0 && (
        <Empty icon='notifications-outline' title='All quiet'>Likes, comments and matches are shown here.</Empty>
      )}
      {notifications?.map(({ id, actor, title, body, createdAt, readAt }) => (
        <Card key={id}>
          <Row>
            <Avatar name={actor?.name ?? title} image={actor?.image ?? null} />
            <View style={{ flex: 1 }}>
              <Text bold={readAt === null}>{title}</Text>
              <Text tone='soft' size={15}>{body}</Text>
            </View>
            <Text tone='soft' size={13}>{timeAgo(createdAt)}</Text>
          </Row>
        </Card>
      ))}
    </Screen>
  )
}
