import { useTandem } from '@tandem/react'
import type { Story, StoryRing } from '@tandem/sdk'
import { focusManager, useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocalSearchParams, useRouter } from 'expo-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Image, Pressable, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { useAttempt } from '../../../components/attempt.ts'
import { useBack } from '../../../components/back.ts'
import { IconButton } from '../../../components/controls.tsx'
import { timeAgo } from '../../../components/format.ts'
import { altOf, Avatar, Row, Screen, Text } from '../../../components/layout.tsx'
import { Empty, Loading } from '../../../components/states.tsx'
import { StoryVideo } from '../../../components/video.tsx'

const PICTURE_SECONDS = 5
const REACTIONS = ['🔥', '👏', '💪', '😍', '🙌']

/** The stories of a person, one after the other, and then those of the next person. */
export default function Stories () {
  const { userId } = useLocalSearchParams<{ userId: string }>()
  const tandem = useTandem()
  const client = useQueryClient()
  const router = useRouter()
  const [index, setIndex] = useState(0)
  const query = useQuery({
    queryKey: ['stories', userId],
    queryFn: async ({ signal }) => (await tandem.listStories({ query: { userId }, signal })).data.stories ?? []
  })
  const stories = query.data ?? []
  const story = stories[index]
  const close = useBack('/feed')
  const nextPerson = () => {
    const rings = client.getQueryData<StoryRing[]>(['stories']) ?? []
    const next = rings[rings.findIndex((ring) => ring.userId === userId) + 1]
    if (!next) return close()
    setIndex(0)
    router.setParams({ userId: next.userId })
  }
  const move = (step: number) => {
    if (stories[index + step]) setIndex(index + step)
    else if (step > 0) nextPerson()
  }
  useViewed(story, () => move(1))
  if (!story && !query.isPending) {
    return (
      <Screen title='Stories' action={<IconButton icon='close' label='Close' onPress={close} />}>
        {query.data
          ? <Empty icon='time-outline' title='These have ended'>A story lasts for a day.</Empty>
          : <Loading of={query} />}
      </Screen>
    )
  }
  return (
    <View style={{ flex: 1, backgroundColor: '#000' }}>
      {story ? <Picture story={story} /> : <Loading />}
      <Row style={{ position: 'absolute', inset: 0, gap: 0 }}>
        <Pressable role='button' aria-label='Previous' style={{ flex: 1, height: '100%' }} onPress={() => move(-1)} />
        <Pressable role='button' aria-label='Next' style={{ flex: 2, height: '100%' }} onPress={() => move(1)} />
      </Row>
      <SafeAreaView style={{ flex: 1, justifyContent: 'space-between', pointerEvents: 'box-none' }}>
        <Top stories={stories} index={index} onClose={close} />
        {story && <Bottom key={story.id} story={story} userId={userId} />}
      </SafeAreaView>
    </View>
  )
}

const subscribeToFocus = (listener: () => void) => focusManager.subscribe(listener)

/**
 * Marks a story as viewed, and calls `onEnd` when it has been shown. That of a video takes as long as the video. Nobody
 * sees those of a page in the background.
 */
function useViewed (story: Story | undefined, onEnd: () => void) {
  const tandem = useTandem()
  const client = useQueryClient()
  const isSeen = useSyncExternalStore(subscribeToFocus, () => focusManager.isFocused())
  useEffect(() => {
    if (!story || !isSeen) return
    // If it is lost, the story is shown as new once more.
    tandem.viewStory({ path: { id: story.id } }).then(
      async () => await client.invalidateQueries({ queryKey: ['stories'], exact: true }),
      () => {}
    )
    const timer = setTimeout(onEnd, 1_000 * (story.duration ?? PICTURE_SECONDS))
    return () => clearTimeout(timer)
  }, [story?.id, isSeen])
}

function Picture ({ story: { id, mediaType, mediaUrl, caption } }: { story: Story }) {
  if (mediaType === 'VIDEO') return <StoryVideo key={id} url={mediaUrl} />
  return (
    <Image
      source={{ uri: mediaUrl }}
      {...altOf(caption ?? '')}
      resizeMode='contain'
      style={{ position: 'absolute', inset: 0, width: '100%', height: '100%' }}
    />
  )
}

function Top ({ stories, index, onClose }: { stories: Story[], index: number, onClose: () => void }) {
  const story = stories[index]
  return (
    <View style={{ padding: 12, gap: 10, backgroundColor: '#0007', pointerEvents: 'box-none' }}>
      <Row style={{ gap: 4 }}>
        {stories.map(({ id }, at) => (
          <View
            key={id}
            style={{ flex: 1, height: 3, borderRadius: 2, backgroundColor: at <= index ? '#fff' : '#fff6' }}
          />
        ))}
      </Row>
      <Row>
        {story && <Avatar name={story.user.name} image={story.user.image} size={36} />}
        <Text bold style={{ color: '#fff', flex: 1 }}>
          {story ? `${story.user.name} · ${timeAgo(story.createdAt)}` : ''}
        </Text>
        <IconButton icon='close' label='Close' colour='#fff' onPress={onClose} />
      </Row>
    </View>
  )
}

function Bottom ({ story: { id, caption, myReaction }, userId }: { story: Story, userId: string }) {
  const tandem = useTandem()
  const client = useQueryClient()
  const { attempt, error } = useAttempt()
  const show = (reaction: string | null) =>
    client.setQueryData<Story[]>(
      ['stories', userId],
      (all) => all?.map((each) => each.id === id ? { ...each, myReaction: reaction } : each)
    )
  const react = async (emoji: string) => {
    show(emoji)
    await tandem.reactToStory({ path: { id }, body: { emoji } }).catch((error: unknown) => {
      show(myReaction)
      throw error
    })
  }
  return (
    <View style={{ padding: 16, gap: 12, backgroundColor: '#0007', pointerEvents: 'box-none' }}>
      {caption !== null && <Text style={{ color: '#fff', textAlign: 'center' }}>{caption}</Text>}
      {error !== '' && <Text role='alert' style={{ color: '#fff', textAlign: 'center' }}>{error}</Text>}
      <Row style={{ justifyContent: 'center', gap: 16 }}>
        {REACTIONS.map((emoji) => (
          <Pressable
            key={emoji}
            role='button'
            aria-label={`React with ${emoji}`}
            aria-pressed={emoji === myReaction}
            onPress={() => void attempt(async () => await react(emoji))}
            style={{ padding: 8, borderRadius: 30, backgroundColor: emoji === myReaction ? '#fff5' : undefined }}
          >
            <Text size={28} style={{ color: '#fff' }}>{emoji}</Text>
          </Pressable>
        ))}
      </Row>
    </View>
  )
}
