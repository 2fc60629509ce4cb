import { keys, useComments, usePost, useTandem } from '@tandem/react'
import type { Post } from '@tandem/sdk'
import { useLocalSearchParams, useRouter } from 'expo-router'
import { useState } from 'react'
import { View } from 'react-native'
import { useBack } from '../../../components/back.ts'
import { Button, Input } from '../../../components/controls.tsx'
import { useDraftText } from '../../../components/drafts.ts'
import { timeAgo } from '../../../components/format.ts'
import { Avatar, Card, ErrorText, Row, Screen, Text } from '../../../components/layout.tsx'
import { PostCard } from '../../../components/post.tsx'
import { useRefresh } from '../../../components/refresh.ts'
import { Empty, Loading, More } from '../../../components/states.tsx'

export default function PostPage () {
  const { id } = useLocalSearchParams<{ id: string }>()
  const post = usePost(id)
  const { comments, waiting, query, add } = useComments(id)
  const { text, setText, submit, error } = useDraftText(add)
  if (!post.data) {
    return (
      <Screen>
        <Loading of={post} />
      </Screen>
    )
  }
  return (
    <Screen>
      <PostCard post={post.data} />
      <Card>
        {!comments && <Loading of={query} />}
        {comments?.length === 0 && waiting.length === 0 && (
          <Empty icon='chatbubble-outline' title='No comments yet'>
            Write the first one.
          </Empty>
        )}
        {comments?.map(({ id, user, content, createdAt, isDeleted }) => (
          <Row key={id} style={{ alignItems: 'flex-start' }}>
            <Avatar name={user.name} image={user.image} size={34} />
            <View style={{ flex: 1 }}>
              <Text size={14} bold>{`${user.name} · ${timeAgo(createdAt)}`}</Text>
              <Text tone={isDeleted ? 'soft' : 'text'}>{isDeleted ? 'This comment is gone.' : content}</Text>
            </View>
          </Row>
        ))}
        <More of={query} />
        {waiting.map(({ id, content }) => (
          <View key={id}>
            <Text>{content}</Text>
            <Text tone='soft' size={12}>Waiting for the network</Text>
          </View>
        ))}
        <Input
          aria-label='Comment'
          placeholder='Write a comment'
          value={text}
          onChangeText={setText}
          maxLength={2_000}
          onSubmitEditing={() => void submit()}
        />
        {error !== '' && <ErrorText>{error}</ErrorText>}
        <Button title='Send' kind='primary' isDisabled={text.trim() === ''} onPress={submit} />
      </Card>
      <Options post={post.data} />
    </Screen>
  )
}

/** The author can delete a post, anybody else report it. */
function Options ({ post: { id, user, viewCount } }: { post: Post }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const router = useRouter()
  const back = useBack('/feed')
  const [isSure, setSure] = useState(false)
  const remove = async () => {
    await tandem.deletePost({ path: { id } })
    await refresh(keys.feeds)
    back()
  }
  // Only the author sees how many people have seen it.
  if (viewCount === null) {
    const report = () => router.push({ pathname: '/report', params: { postId: id, name: user.name } })
    return <Button title='Report' onPress={report} />
  }
  if (!isSure) return <Button title='Delete' onPress={() => setSure(true)} />
  // The second of two quick presses keeps it.
  return (
    <>
      <Button title='Keep it' onPress={() => setSure(false)} />
      <Button title='Yes, delete it' kind='bad' onPress={remove} />
    </>
  )
}
