import { keys, useChat, useTandem } from '@tandem/react'
import { TandemError, type ListMatchesResponse } from '@tandem/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Stack, useLocalSearchParams, useRouter } from 'expo-router'
import { FlatList, Image, KeyboardAvoidingView, Platform, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { IconButton, Input } from '../../../components/controls.tsx'
import { useDraftText } from '../../../components/drafts.ts'
import { useFormat } from '../../../components/format.ts'
import { altOf, ErrorText, Row, Screen, Text } from '../../../components/layout.tsx'
import { Empty, Loading } from '../../../components/states.tsx'
import { useTheme } from '../../../components/theme.ts'

interface Bubble {
  id: string
  content: string | null
  imageUrl: string | null
  isMine: boolean
  state: string
}

export default function Chat () {
  const { id } = useLocalSearchParams<{ id: string }>()
  const other = useOther(id)
  const router = useRouter()
  const theme = useTheme()
  const chat = useChat(id)
  const { text, setText, submit, error } = useDraftText(chat.send)
  const bubbles = bubblesOf(chat, useFormat())
  const name = other?.displayName ?? 'Chat'
  const report = other && (
    <IconButton
      icon='flag-outline'
      label='Report'
      onPress={() => router.push({ pathname: '/report', params: { profileId: other.id, name } })}
    />
  )
  if (chat.query.error instanceof TandemError && chat.query.error.status === 404) {
    return (
      <Screen>
        <Stack.Screen options={{ title: name }} />
        <Empty icon='chatbubble-outline' title='This chat has ended'>You are not matched any more.</Empty>
      </Screen>
    )
  }
  return (
    <SafeAreaView role='main' edges={['bottom']} style={{ flex: 1, backgroundColor: theme.background }}>
      <Stack.Screen options={{ title: chat.isOnline ? `${name} · online` : name, headerRight: () => report }} />
      <KeyboardAvoidingView behavior={Platform.OS === 'ios' ? 'padding' : undefined} style={{ flex: 1 }}>
        {!chat.messages && bubbles.length === 0
          ? (
            <View style={{ flex: 1 }}>
              <Loading of={chat.query} />
            </View>
          )
          : bubbles.length === 0
          ? (
            <View style={{ flex: 1 }}>
              <Empty icon='hand-right-outline' title='Say hello'>You both want to train together.</Empty>
            </View>
          )
          : (
            <FlatList
              inverted
              data={bubbles.toReversed()}
              keyExtractor={({ id }) => id}
              renderItem={({ item }) => <BubbleView {...item} sender={item.isMine ? 'You' : name} />}
              onEndReached={() => chat.query.hasNextPage && !chat.query.isFetching && void chat.query.fetchNextPage()}
              contentContainerStyle={{ padding: 16, gap: 8, width: '100%', maxWidth: 640, alignSelf: 'center' }}
              style={{ flex: 1 }}
            />
          )}
        {error !== '' && (
          <View style={{ paddingHorizontal: 16 }}>
            <ErrorText>{error}</ErrorText>
          </View>
        )}
        {chat.isTyping && <Text tone='soft' size={14} style={{ paddingHorizontal: 16 }}>{`${name} is typing …`}</Text>}
        <Row style={{ padding: 12, width: '100%', maxWidth: 640, alignSelf: 'center' }}>
          <Input
            aria-label='Message'
            placeholder='Message'
            value={text}
            onChangeText={(value) => {
              setText(value)
              chat.type()
            }}
            maxLength={1_000}
            onSubmitEditing={() => void submit()}
            submitBehavior='submit'
          />
          <IconButton icon='send' label='Send' onPress={() => void submit()} />
        </Row>
      </KeyboardAvoidingView>
    </SafeAreaView>
  )
}

/** The other person. The list of chats is mostly known; a notification has only the id of the chat. */
function useOther (id: string) {
  const tandem = useTandem()
  const client = useQueryClient()
  const find = ({ conversations, newMatches }: ListMatchesResponse['data']) =>
    [...conversations, ...newMatches].find(({ matchId }) => matchId === id)?.profile
  return useQuery({
    queryKey: ['other person', id],
    staleTime: Infinity,
    initialData: () => {
      const known = client.getQueryData<ListMatchesResponse['data']>(keys.chats)
      return known && find(known)
    },
    queryFn: async ({ signal }) => find((await tandem.listMatches({ signal })).data) ?? null
  }).data
}

/** What is there, and what waits to be sent. */
function bubblesOf ({ messages, waiting }: ReturnType<typeof useChat>, format: ReturnType<typeof useFormat>): Bubble[] {
  return [
    ...messages?.map(({ id, content, imageUrl, isMine, readAt, createdAt }) => ({
      id,
      content,
      imageUrl,
      isMine,
      state: [format.moment(createdAt), isMine && readAt !== null && 'Read'].filter(Boolean).join(' · ')
    })) ?? [],
    ...waiting.map(({ id, content }) => ({
      id,
      content,
      imageUrl: null,
      isMine: true,
      state: 'Waiting for the network'
    }))
  ]
}

function BubbleView ({ content, imageUrl, isMine, state, sender }: Bubble & { sender: string }) {
  const theme = useTheme()
  return (
    <View
      role='group'
      aria-label={sender}
      style={{ alignSelf: isMine ? 'flex-end' : 'flex-start', maxWidth: '82%', gap: 2 }}
    >
      <View
        style={{
          backgroundColor: isMine ? theme.accent : theme.card,
          borderRadius: 18,
          paddingHorizontal: 14,
          paddingVertical: 9
        }}
      >
        {imageUrl !== null && (
          <Image
            source={{ uri: imageUrl }}
            {...altOf('A picture')}
            style={{ width: 200, height: 200, borderRadius: 12 }}
          />
        )}
        {content !== null && <Text tone={isMine ? 'onAccent' : 'text'}>{content}</Text>}
      </View>
      <Text tone='soft' size={12} style={{ textAlign: isMine ? 'right' : 'left' }}>{state}</Text>
    </View>
  )
}
