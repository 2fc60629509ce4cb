import { useChat, useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { Stack, useLocalSearchParams } from 'expo-router'
import { useState } from 'react'
import { FlatList, Image, KeyboardAvoidingView, Platform, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { IconButton, Input } from '../../../components/controls.tsx'
import { altOf, Row, Text } from '../../../components/layout.tsx'
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
  const name = useName(id)
  const theme = useTheme()
  const chat = useChat(id)
  const [text, setText] = useState('')
  const send = async () => {
    const content = text.trim()
    setText('')
    if (content !== '') await chat.send(content)
  }
  const bubbles = bubblesOf(chat)
  return (
    <SafeAreaView edges={['bottom']} style={{ flex: 1, backgroundColor: theme.background }}>
      <Stack.Screen options={{ title: chat.isOnline ? `${name} · online` : name }} />
      <KeyboardAvoidingView behavior={Platform.OS === 'ios' ? 'padding' : undefined} style={{ flex: 1 }}>
        {!chat.messages && bubbles.length === 0
          ? <Loading of={chat.query} />
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
              renderItem={({ item }) => <BubbleView {...item} />}
              onEndReached={() => chat.query.hasNextPage && !chat.query.isFetching && void chat.query.fetchNextPage()}
              contentContainerStyle={{ padding: 16, gap: 8, width: '100%', maxWidth: 640, alignSelf: 'center' }}
              style={{ flex: 1 }}
            />
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
            onSubmitEditing={() => void send()}
            submitBehavior='submit'
          />
          <IconButton icon='send' label='Send' onPress={() => void send()} />
        </Row>
      </KeyboardAvoidingView>
    </SafeAreaView>
  )
}

/** A notification has only the id of the chat. */
function useName (id: string) {
  const { name } = useLocalSearchParams<{ name?: string }>()
  const tandem = useTandem()
  const { data } = useQuery({
    queryKey: ['chat name', id],
    enabled: name === undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { conversations, newMatches } = (await tandem.listMatches({ signal })).data
      return [...conversations, ...newMatches].find(({ matchId }) => matchId === id)?.profile.displayName ?? null
    }
  })
  return name ?? data ?? 'Chat'
}

/** What is there, and what waits to be sent. */
function bubblesOf ({ messages, waiting }: ReturnType<typeof useChat>): Bubble[] {
  return [
    ...messages?.map(({ id, content, imageUrl, isMine, readAt }) => ({
      id,
      content,
      imageUrl,
      isMine,
      state: isMine && readAt !== null ? 'Read' : ''
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

function BubbleView ({ content, imageUrl, isMine, state }: Bubble) {
  const theme = useTheme()
  return (
    <View style={{ alignSelf: isMine ? 'flex-end' : 'flex-start', maxWidth: '82%', gap: 2 }}>
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
      {state !== '' && <Text tone='soft' size={12} style={{ textAlign: 'right' }}>{state}</Text>}
    </View>
  )
}
