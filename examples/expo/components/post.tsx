import Ionicons from '@expo/vector-icons/Ionicons'
import { keys, useLike, useTandem } from '@tandem/react'
import type { Post } from '@tandem/sdk'
import { Link, useRouter } from 'expo-router'
import { useState } from 'react'
import { Image, Pressable, View } from 'react-native'
import { useAttempt } from './attempt.ts'
import { IconButton } from './controls.tsx'
import { countOf, timeAgo, useFormat } from './format.ts'
import { altOf, Avatar, Card, ErrorText, Icon, Row, Text, type IconName } from './layout.tsx'
import { useRefresh } from './refresh.ts'
import { useTheme } from './theme.ts'
import { VideoPlayer } from './video.tsx'

/** A post of any type. */
export function PostCard ({ post }: { post: Post }) {
  const like = useLike()
  const { attempt, error } = useAttempt()
  const router = useRouter()
  const open = () => router.push({ pathname: '/post/[id]', params: { id: post.id } })
  return (
    <Card role='article'>
      <Link href={{ pathname: '/person/[id]', params: { id: post.userId } }}>
        <Row style={{ width: '100%' }}>
          <Avatar name={post.user.name} image={post.user.image} />
          <View style={{ flex: 1 }}>
            <Text bold>{post.user.name}</Text>
            <Text tone='soft' size={13}>{timeAgo(post.createdAt)}</Text>
          </View>
        </Row>
      </Link>
      {post.content !== '' && <Text>{post.content}</Text>}
      <About post={post} />
      {post.media.map((picture) => <Media key={picture.url} {...picture} />)}
      {post.poll && <PollCard postId={post.id} poll={post.poll} />}
      <Row>
        <IconButton
          icon={post.isLiked ? 'heart' : 'heart-outline'}
          label={post.isLiked ? 'Unlike' : 'Like'}
          count={post.likesCount}
          isOn={post.isLiked}
          onPress={() => void attempt(async () => await like(post))}
        />
        <IconButton icon='chatbubble-outline' label='Comments' count={post.commentsCount} onPress={open} />
      </Row>
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </Card>
  )
}

/** The place of a picture has its size before it is loaded, so that nothing jumps. */
function Media ({ type, url, posterUrl, width, height, thumbnails }: Post['media'][number]) {
  const theme = useTheme()
  const [isPlaying, setPlaying] = useState(false)
  const medium = thumbnails.find((each) => each.width >= 640)?.url
  const uri = type === 'VIDEO' ? posterUrl ?? medium : medium ?? url
  const aspectRatio = width && height ? Math.max(0.75, width / height) : 1
  if (isPlaying) return <VideoPlayer url={url} label='A video' aspectRatio={aspectRatio} />
  return (
    <View style={{ borderRadius: 14, overflow: 'hidden', backgroundColor: theme.field }}>
      <Image
        source={uri === undefined ? {} : { uri }}
        {...altOf(type === 'VIDEO' ? 'A video' : 'A picture')}
        style={{ width: '100%', aspectRatio }}
      />
      {type === 'VIDEO' && (
        <Pressable
          role='button'
          aria-label='Play'
          onPress={() => setPlaying(true)}
          style={{ position: 'absolute', inset: 0, alignItems: 'center', justifyContent: 'center' }}
        >
          <View style={{ backgroundColor: '#000a', borderRadius: 40, padding: 12 }}>
            <Ionicons aria-hidden name='play' size={32} color='#fff' />
          </View>
        </Pressable>
      )}
    </View>
  )
}

/** What a post is about: a workout, an achievement, an activity, a place. */
function About ({ post: { workout, achievement, activity, location } }: { post: Post }) {
  const format = useFormat()
  return (
    <>
      {workout && (
        <Shown label='Workout' icon='barbell' title={workout.name ?? 'Workout'}>
          {[
            `${workout.durationMinutes} min`,
            workout.exercises > 0 && countOf(workout.exercises, 'exercise'),
            workout.volumeKg > 0 && `${format.number(Math.round(workout.volumeKg))} kg lifted`,
            workout.prs > 0 && countOf(workout.prs, 'record'),
            workout.calories !== null && `${workout.calories} kcal`
          ].filter(Boolean).join(' · ')}
        </Shown>
      )}
      {achievement && (
        <Shown label='Achievement' icon='trophy' title={achievement.title}>
          {`Earned on ${format.date(achievement.earnedAt)}`}
        </Shown>
      )}
      {activity && (
        <Shown label='Activity' icon='calendar' title={activity.title}>
          {[
            `${format.day(activity.date)}, ${activity.startTime}`,
            activity.locationName,
            `${activity.participants} going`,
            activity.isOpen && 'places free'
          ].filter(Boolean).join(' · ')}
        </Shown>
      )}
      {location?.name != null && (
        <Row style={{ gap: 4 }}>
          <Icon name='location-outline' size={16} />
          <Text tone='soft' size={14}>{location.name}</Text>
        </Row>
      )}
    </>
  )
}

interface ShownOptions {
  label: string
  icon: IconName
  title: string
  children: string
}

function Shown ({ label, icon, title, children }: ShownOptions) {
  const theme = useTheme()
  return (
    <Row role='region' aria-label={label} style={{ backgroundColor: theme.field, borderRadius: 14, padding: 12 }}>
      <Icon name={icon} tone='accent' />
      <View style={{ flex: 1, gap: 2 }}>
        <Text bold>{title}</Text>
        <Text tone='soft' size={14}>{children}</Text>
      </View>
    </Row>
  )
}

function PollCard ({ postId, poll }: { postId: string, poll: NonNullable<Post['poll']> }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const theme = useTheme()
  const { attempt, isBusy, error } = useAttempt()
  const isClosed = poll.endsAt !== null && Date.parse(poll.endsAt) <= Date.now()
  const isDecided = poll.myVote !== null || isClosed
  const vote = async (optionId: string) => {
    await tandem.voteInPoll({ path: { id: postId }, body: { optionId } })
    await refresh(keys.post(postId), keys.feeds)
  }
  return (
    <View style={{ gap: 8 }}>
      <Text bold>{poll.question}</Text>
      {poll.options.map(({ id, text, votesCount }) => {
        const share = poll.totalVotes > 0 ? votesCount / poll.totalVotes : 0
        return (
          <Pressable
            key={id}
            role='button'
            disabled={isDecided || isBusy}
            onPress={() => void attempt(async () => await vote(id))}
            style={{ backgroundColor: theme.field, borderRadius: 12, overflow: 'hidden' }}
          >
            {isDecided && (
              <View
                style={{
                  position: 'absolute',
                  inset: 0,
                  right: undefined,
                  width: `${100 * share}%`,
                  backgroundColor: theme.line
                }}
              />
            )}
            <Row style={{ justifyContent: 'space-between', padding: 12 }}>
              <Text bold={id === poll.myVote}>{text}</Text>
              {isDecided && <Text tone='soft'>{`${Math.round(100 * share)} %`}</Text>}
            </Row>
          </Pressable>
        )
      })}
      {error !== '' && <ErrorText>{error}</ErrorText>}
      <Text tone='soft' size={14}>{`${countOf(poll.totalVotes, 'vote')}${isClosed ? ' · closed' : ''}`}</Text>
    </View>
  )
}
