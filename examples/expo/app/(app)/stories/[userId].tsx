import { useTandem } from '@tandem/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocalSearchParams, useRouter } from 'expo-router'
import { useEffect, useState } from 'react'
import { Image, Pressable, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { Loading, Row, Text, timeAgo } from '../../../components/ui.tsx'

const SHOWN_MS = 5_000
const REACTIONS = ['🔥', '👏', '💪', '😍', '🙌']

export default function Stories () {
  const { userId, name = '' } = useLocalSearchParams<{ userId: string, name?: string }>()
  const tandem = useTandem()
  const client = useQueryClient()
  const router = useRouter()
  const [index, setIndex] = useState(0)
  const [reaction, setReaction] = useState<string>()
  const query = useQuery({
    queryKey: ['stories', userId],
    queryFn: async ({ signal }) => (await tandem.listStories({ query: { userId }, signal })).data.stories ?? []
  })
  const stories = query.data ?? []
  const story = stories[index]
  const storyId = story?.id
  const isLast = index >= stories.length - 1
  const close = () => router.canGoBack() ? router.back() : router.replace('/feed')
  const next = () => {
    setReaction(undefined)
    if (isLast) close()
    else setIndex(index + 1)
  }
  useEffect(() => {
    if (storyId === undefined) return
    // Reading it marks it as viewed; if that is lost, it is shown as new once more.
    tandem.viewStory({ path: { id: storyId } }).then(
      async () => await client.invalidateQueries({ queryKey: ['stories'], exact: true }),
      () => {}
    )
    const timer = setTimeout(next, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [storyId])
  return (
    <View style={{ flex: 1, backgroundColor: '#000' }}>
      {!query.data && <Loading of={query} />}
      {story && (
        <Image
          source={{ uri: story.media.posterUrl ?? story.mediaUrl }}
          alt={story.caption ?? ''}
          resizeMode='contain'
          style={{ position: 'absolute', inset: 0 }}
        />
      )}
      <Row style={{ position: 'absolute', inset: 0, gap: 0 }}>
        <Pressable
          aria-label='Previous'
          style={{ flex: 1, height: '100%' }}
          onPress={() => setIndex(Math.max(0, index - 1))}
        />
        <Pressable aria-label='Next' style={{ flex: 2, height: '100%' }} onPress={next} />
      </Row>
      <SafeAreaView style={{ flex: 1, justifyContent: 'space-between', pointerEvents: 'box-none' }}>
        <View style={{ padding: 12, gap: 10, backgroundColor: '#0007' }}>
          <Row style={{ gap: 4 }}>
            {stories.map(({ id }, at) => (
              <View
                key={id}
                style={{ flex: 1, height: 3, borderRadius: 2, backgroundColor: at <= index ? '#fff' : '#fff6' }}
              />
            ))}
          </Row>
          <Row style={{ justifyContent: 'space-between' }}>
            <Text bold style={{ color: '#fff' }}>{story ? `${name} · ${timeAgo(story.createdAt)}` : name}</Text>
            <Pressable role='button' onPress={close} style={{ padding: 8 }}>
              <Text bold style={{ color: '#fff' }}>Close</Text>
            </Pressable>
          </Row>
        </View>
        {story && (
          <View style={{ padding: 16, gap: 12, backgroundColor: '#0007' }}>
            {story.caption !== null && <Text style={{ color: '#fff' }}>{story.caption}</Text>}
            <Row style={{ justifyContent: 'space-around' }}>
              {REACTIONS.map((emoji) => (
                <Pressable
                  key={emoji}
                  role='button'
                  aria-label={`React with ${emoji}`}
                  onPress={() => {
                    setReaction(emoji)
                    void tandem.reactToStory({ path: { id: story.id }, body: { emoji } }).catch(() =>
                      setReaction(undefined)
                    )
                  }}
                  style={{
                    padding: 8,
                    borderRadius: 30,
                    backgroundColor: emoji === (reaction ?? story.myReaction) ? '#fff5' : undefined
                  }}
                >
                  <Text size={28}>{emoji}</Text>
                </Pressable>
              ))}
            </Row>
          </View>
        )}
      </SafeAreaView>
    </View>
  )
}
