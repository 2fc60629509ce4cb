import { useFeed, useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouter } from 'expo-router'
import { useRef, useState } from 'react'
import { FlatList, ScrollView, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { useFeature } from '../../../components/api.ts'
import { Button, Segments } from '../../../components/controls.tsx'
import { Avatar, Row, Text } from '../../../components/layout.tsx'
import { PostCard } from '../../../components/post.tsx'
import { Empty, Loading } from '../../../components/states.tsx'
import { useTheme } from '../../../components/theme.ts'

const kinds = { all: 'For you', following: 'Following', trending: 'Trending' }

export default function Feed () {
  const theme = useTheme()
  const router = useRouter()
  const hasStories = useFeature('stories')
  const [feedType, setFeedType] = useState<keyof typeof kinds>('all')
  const { posts, query } = useFeed({ feedType })
  // The list reaches its end while it is empty, too.
  const hasScrolled = useRef(false)
  return (
    <SafeAreaView role='main' edges={['top']} style={{ flex: 1, backgroundColor: theme.background }}>
      <FlatList
        data={posts}
        keyExtractor={({ id }) => id}
        renderItem={({ item }) => <PostCard post={item} />}
        contentContainerStyle={{ padding: 16, gap: 14, width: '100%', maxWidth: 640, alignSelf: 'center' }}
        onScroll={() => {
          hasScrolled.current = true
        }}
        onEndReached={() => hasScrolled.current && query.hasNextPage && !query.isFetching && void query.fetchNextPage()}
        refreshing={query.isRefetching}
        onRefresh={() => void query.refetch()}
        ListHeaderComponent={
          <View style={{ gap: 14 }}>
            <Row style={{ justifyContent: 'space-between' }}>
              <Text size={26} bold role='heading'>Feed</Text>
              <Button title='New post' kind='primary' onPress={() => router.push('/new-post')} />
            </Row>
            {hasStories && <Stories />}
            <Segments options={kinds} value={feedType} onChange={setFeedType} />
          </View>
        }
        ListEmptyComponent={posts
          ? <Empty icon='albums-outline' title='Nothing here yet'>Follow people, or write the first post.</Empty>
          : <Loading of={query} />}
      />
    </SafeAreaView>
  )
}

function Stories () {
  const tandem = useTandem()
  const theme = useTheme()
  const { data: rings = [] } = useQuery({
    queryKey: ['stories'],
    queryFn: async ({ signal }) => (await tandem.listStories({ signal })).data.storyRings ?? []
  })
  if (rings.length === 0) return null
  return (
    <ScrollView horizontal showsHorizontalScrollIndicator={false} contentContainerStyle={{ gap: 12 }}>
      {rings.map(({ userId, userName, userImage, hasUnviewed, isOwn }) => (
        <Link key={userId} href={{ pathname: '/stories/[userId]', params: { userId, name: userName } }}>
          <View style={{ alignItems: 'center', gap: 4, width: 72 }}>
            <View
              style={{
                padding: 3,
                borderRadius: 40,
                borderWidth: 2,
                borderColor: hasUnviewed ? theme.accent : theme.line
              }}
            >
              <Avatar name={userName} image={userImage} size={58} />
            </View>
            <Text size={13} numberOfLines={1}>{isOwn ? 'You' : userName.split(' ')[0]}</Text>
          </View>
        </Link>
      ))}
    </ScrollView>
  )
}
