import { useChats } from '@tandem/react'
import type { MatchedProfile } from '@tandem/sdk'
import { Link } from 'expo-router'
import { ScrollView, View } from 'react-native'
import { timeAgo } from '../../../components/format.ts'
import { LoadingFitMatch } from '../../../components/join-fitmatch.tsx'
import { Avatar, Card, Row, Screen, Text } from '../../../components/layout.tsx'
import { Empty } from '../../../components/states.tsx'

export default function Chats () {
  const query = useChats()
  if (!query.data) {
    return (
      <Screen title='Chats'>
        <LoadingFitMatch of={query} />
      </Screen>
    )
  }
  const { newMatches, conversations, totalMatches } = query.data
  return (
    <Screen title='Chats'>
      {newMatches.length > 0 && (
        <ScrollView horizontal showsHorizontalScrollIndicator={false} contentContainerStyle={{ gap: 12 }}>
          {newMatches.map(({ matchId, profile }) => (
            <ChatLink key={matchId} matchId={matchId}>
              <View style={{ alignItems: 'center', gap: 4, width: 72 }}>
                <Avatar name={profile.displayName} image={photoOf(profile)} size={62} />
                <Text size={13} numberOfLines={1}>{profile.displayName.split(' ')[0]}</Text>
              </View>
            </ChatLink>
          ))}
        </ScrollView>
      )}
      {totalMatches === 0 && <Empty icon='chatbubbles-outline' title='No chats yet'>A match opens one.</Empty>}
      {conversations.map(({ matchId, profile, lastMessage, unreadCount }) => (
        <ChatLink key={matchId} matchId={matchId}>
          <Card style={{ width: '100%' }}>
            <Row>
              <Avatar name={profile.displayName} image={photoOf(profile)} size={52} />
              <View style={{ flex: 1 }}>
                <Text bold>{profile.displayName}</Text>
                <Text tone='soft' size={15} bold={unreadCount > 0} numberOfLines={1}>
                  {`${lastMessage.isMine ? 'You: ' : ''}${lastMessage.content ?? 'A picture'}`}
                </Text>
              </View>
              <View style={{ alignItems: 'flex-end' }}>
                <Text tone='soft' size={13}>{timeAgo(lastMessage.createdAt)}</Text>
                {unreadCount > 0 && <Text bold tone='accent'>{unreadCount}</Text>}
              </View>
            </Row>
          </Card>
        </ChatLink>
      ))}
    </Screen>
  )
}

function ChatLink ({ matchId, children }: { matchId: string, children: React.ReactNode }) {
  return <Link href={{ pathname: '/chat/[id]', params: { id: matchId } }}>{children}</Link>
}

const photoOf = ({ photos }: MatchedProfile) => (photos.find(({ isMain }) => isMain) ?? photos[0])?.url ?? null
