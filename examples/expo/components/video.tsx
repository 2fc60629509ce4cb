import { useVideoPlayer, VideoView } from 'expo-video'
import { useEffect } from 'react'
import { View } from 'react-native'

interface VideoOptions {
  url: string
  label: string
  aspectRatio: number
}

/** A video with the controls of the system. Players load it in parts. */
export function VideoPlayer ({ url, label, aspectRatio }: VideoOptions) {
  const player = useVideoPlayer(url)
  return (
    <View role='group' aria-label={label} style={{ borderRadius: 14, overflow: 'hidden' }}>
      <VideoView player={player} style={{ width: '100%', aspectRatio }} contentFit='contain' />
    </View>
  )
}

/** The video of a story: it plays by itself, without sound and controls. */
export function StoryVideo ({ url }: { url: string }) {
  const player = useVideoPlayer(url, (created) => {
    created.muted = true
  })
  // A browser plays what is on the page only.
  useEffect(() => player.play(), [player])
  return (
    <VideoView
      player={player}
      nativeControls={false}
      contentFit='contain'
      style={{ position: 'absolute', inset: 0, width: '100%', height: '100%' }}
    />
  )
}
