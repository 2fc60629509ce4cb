import { keys, useFeed, useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useLocalSearchParams } from 'expo-router'
import { View } from 'react-native'
import { Button } from '../../../components/controls.tsx'
import { countOf } from '../../../components/format.ts'
import { Avatar, Card, Row, Screen, Text } from '../../../components/layout.tsx'
import { PostCard } from '../../../components/post.tsx'
import { useRefresh } from '../../../components/refresh.ts'
import { Empty, Loading, More } from '../../../components/states.tsx'

export default function Person () {
  const { id } = useLocalSearchParams<{ id: string }>()
  const tandem = useTandem()
  const refresh = useRefresh()
  const queryKey = ['person', id]
  const person = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.getUser({ path: { userId: id }, signal })).data.user
  })
  const { posts, query } = useFeed({ userId: id })
  if (!person.data) {
    return (
      <Screen>
        <Loading of={person} />
      </Screen>
    )
  }
  const { name, username, image, bio, followersCount, followingCount, isFollowing, isSelf } = person.data
  const follow = async () => {
    const path = { userId: id }
    await (isFollowing ? tandem.unfollowUser({ path }) : tandem.followUser({ path }))
    await refresh(queryKey, keys.feeds, ['stories'])
  }
  return (
    <Screen>
      <Card>
        <Row>
          <Avatar name={name} image={image} size={72} />
          <View style={{ flex: 1 }}>
            <Text size={22} bold role='heading'>{name}</Text>
            <Text tone='soft'>{`@${username}`}</Text>
          </View>
        </Row>
        {bio !== null && <Text>{bio}</Text>}
        <Text tone='soft'>{`${countOf(followersCount, 'follower')} · ${followingCount} following`}</Text>
        {!isSelf && (
          <Button
            title={isFollowing ? 'Unfollow' : 'Follow'}
            kind={isFollowing ? 'plain' : 'primary'}
            onPress={follow}
          />
        )}
      </Card>
      {!posts && <Loading of={query} />}
      {posts?.length === 0 && <Empty icon='albums-outline' title='No posts yet'>What they post is shown here.</Empty>}
      {posts?.map((post) => <PostCard key={post.id} post={post} />)}
      <More of={query} />
    </Screen>
  )
}
