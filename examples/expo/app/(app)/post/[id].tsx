import { useComments, usePost } from '@tandem/react'
import { useLocalSearchParams } from 'expo-router'
import { useState } from 'react'
import { View } from 'react-native'
import { Button, Input } from '../../../components/controls.tsx'
import { timeAgo } from '../../../components/format.ts'
import { Avatar, Card, Row, Screen, Text } from '../../../components/layout.tsx'
import { PostCard } from '../../../components/post.tsx'
import { Empty, Loading } from '../../../components/states.tsx'

export default function PostPage () {
  const { id } = useLocalSearchParams<{ id: string }>()
  const post = usePost(id)
  const { comments, query, add } = useComments(id)
  const [text, setText] = useState('')
  return (
    <Screen>
      {post.data ? <PostCard post={post.data} /> : <Loading of={post} />}
      <Card>
        {!comments && <Loading of={query} />}
        {comments?.length === 0 && (
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
        <Input aria-label='Comment' placeholder='Write a comment' value={text} onChangeText={setText} />
        <Button
          title='Send'
          kind='primary'
          isDisabled={text.trim() === ''}
          onPress={async () => {
            await add(text.trim())
            setText('')
          }}
        />
      </Card>
    </Screen>
  )
}
